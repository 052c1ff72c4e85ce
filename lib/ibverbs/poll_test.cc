// SPDX-License-Identifier: BSD-3-Clause
// Tests of polling and arming: what a program reads of a completion, and when it is told.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "ibverbs/traffic_fixture.h"

namespace uroce::ibverbs {
namespace {

class PollTest : public TrafficTest {
 protected:
  void send(ibv_qp* from, ibv_wr_opcode opcode, uint32_t immediate, unsigned flags) {
    ibv_sge sge = piece(0, 32);
    ibv_send_wr wr = request(opcode, sge, 5);
    wr.imm_data = immediate;
    wr.send_flags = flags;
    ASSERT_EQ(post(from, wr), 0);
  }
};

TEST_F(PollTest, AnEmptyQueueHasNothingAndAskingForNothingIsNoError) {
  ibv_wc wc{};
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 0);
  EXPECT_EQ(ibv_poll_cq(cq_, 0, &wc), 0);
}

TEST_F(PollTest, ACompletionSaysWhatCameAndOnWhichQueuePair) {
  const auto [a, b] = connected();
  ASSERT_EQ(post_recv(b, piece(512, 64), 6), 0);
  send(a, IBV_WR_SEND_WITH_IMM, 0x0A0B0C0D, IBV_SEND_SIGNALED);
  for (const ibv_wc& wc : poll(cq_, 2)) {
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.vendor_err, 0u);
    EXPECT_EQ(wc.sl, 0);
    if (wc.wr_id == 5) {
      EXPECT_EQ(wc.opcode, IBV_WC_SEND);
      EXPECT_EQ(wc.qp_num, a->qp_num);
      continue;
    }
    EXPECT_EQ(wc.wr_id, 6u);
    EXPECT_EQ(wc.opcode, IBV_WC_RECV);
    EXPECT_EQ(wc.qp_num, b->qp_num);
    EXPECT_EQ(wc.byte_len, 32u);
    EXPECT_EQ(wc.imm_data, 0x0A0B0C0Du);
    EXPECT_EQ(wc.wc_flags & ~unsigned{IBV_WC_GRH}, unsigned{IBV_WC_WITH_IMM});
  }
}

// Programs read the address of a datagram's sender by wc.sl and the last 20 bytes of the GRH.
TEST_F(PollTest, ADatagramOverIpv4IsToldByItsServiceLevelAndHeader) {
  ibv_qp* const a = make(IBV_QPT_UD);
  ibv_qp* const b = make(IBV_QPT_UD);
  for (ibv_qp* const qp : {a, b}) bring_to(qp, IBV_QPS_RTS);
  for (const bool ipv4 : {true, false}) {
    ibv_ah_attr attr = to(ipv4 ? device::kTestIpv4 : device::kTestIpv6, ipv4 ? 1 : 2);
    ibv_ah* const ah = ibv_create_ah(pd_, &attr);
    ASSERT_NE(ah, nullptr);
    ASSERT_EQ(post_recv(b, piece(512, 128), 6), 0);
    ibv_sge sge = piece(0, 32);
    ibv_send_wr wr = request(IBV_WR_SEND, sge, 5);
    wr.wr.ud = {.ah = ah, .remote_qpn = b->qp_num, .remote_qkey = kTestQkey};
    ASSERT_EQ(post(a, wr), 0);
    const ibv_wc received = poll_both();
    EXPECT_EQ(received.byte_len, 72u);
    EXPECT_EQ(received.src_qp, a->qp_num);
    EXPECT_EQ(received.wc_flags, unsigned{IBV_WC_GRH});
    EXPECT_EQ(received.sl, ipv4 ? 0xA : 0);
    const uint8_t* const grh = memory_.data() + 512;
    if (ipv4) {
      const uint8_t address[4] = {10, 0, 0, 1};
      EXPECT_EQ(grh[20], 0x45);
      EXPECT_EQ(std::memcmp(grh + 32, address, 4), 0);
    } else {
      EXPECT_EQ(grh[0] >> 4, 6);
      EXPECT_EQ(std::memcmp(grh + 8, device::kTestIpv6.bytes.data(), 16), 0);
    }
    EXPECT_EQ(ibv_destroy_ah(ah), 0);
  }
}

TEST_F(PollTest, AnInvalidationIsToldWithItsKey) {
  const auto [a, b] = connected();
  ibv_mw* const mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(mw, nullptr);
  ibv_send_wr bind{};
  bind.opcode = IBV_WR_BIND_MW;
  bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_mw.mw = mw;
  bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  bind.bind_mw.bind_info = {
      .mr = mr_, .addr = address(0), .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_READ};
  ASSERT_EQ(post(b, bind), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_BIND_MW);
  ASSERT_EQ(post_recv(b, piece(512, 64), 6), 0);
  send(a, IBV_WR_SEND_WITH_INV, bind.bind_mw.rkey, IBV_SEND_SIGNALED);
  const ibv_wc received = poll_both();
  EXPECT_EQ(received.wc_flags & ~unsigned{IBV_WC_GRH}, unsigned{IBV_WC_WITH_INV});
  EXPECT_EQ(received.invalidated_rkey, bind.bind_mw.rkey);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

class NotifyTest : public PollTest {
 protected:
  NotifyTest() {
    channel_ = ibv_create_comp_channel(context_);
    EXPECT_EQ(fcntl(channel_->fd, F_SETFL, O_NONBLOCK), 0);
    told_ = ibv_create_cq(context_, 16, this, channel_, 0);
    ibv_qp_init_attr attr = init(IBV_QPT_RC);
    attr.recv_cq = told_;
    receiver_ = make(attr);
    sender_ = make(IBV_QPT_RC);
    bring_to(sender_, IBV_QPS_RTS, receiver_->qp_num);
    bring_to(receiver_, IBV_QPS_RTS, sender_->qp_num);
  }
  ~NotifyTest() override {
    for (ibv_qp* const qp : {sender_, receiver_}) {
      forget(qp);
      EXPECT_EQ(ibv_destroy_qp(qp), 0);
    }
    EXPECT_EQ(ibv_destroy_cq(told_), 0);
    EXPECT_EQ(ibv_destroy_comp_channel(channel_), 0);
  }
  void receive(unsigned flags) {
    ASSERT_EQ(post_recv(receiver_, piece(512, 64), 6), 0);
    send(sender_, IBV_WR_SEND, 0, flags | IBV_SEND_SIGNALED);
    poll(cq_, 1);
  }
  int events() {
    int count = 0;
    ibv_cq* cq = nullptr;
    void* user = nullptr;
    for (; ibv_get_cq_event(channel_, &cq, &user) == 0; ++count) {
      EXPECT_EQ(cq, told_);
      EXPECT_EQ(user, this);
      ibv_ack_cq_events(cq, 1);
    }
    EXPECT_EQ(errno, EAGAIN);
    return count;
  }

  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* told_ = nullptr;
  ibv_qp* sender_ = nullptr;
  ibv_qp* receiver_ = nullptr;
};

TEST_F(NotifyTest, EachArmingIsWorthOneEvent) {
  receive(0);
  EXPECT_EQ(events(), 0) << "not armed";
  ASSERT_EQ(ibv_req_notify_cq(told_, 0), 0);
  EXPECT_EQ(events(), 0) << "what is there already is not news";
  receive(0);
  receive(0);
  EXPECT_EQ(events(), 1);
  ASSERT_EQ(ibv_req_notify_cq(told_, 0), 0);
  receive(0);
  EXPECT_EQ(events(), 1);
}

TEST_F(NotifyTest, SolicitedOnlyIsForSolicitedAndForFailures) {
  ASSERT_EQ(ibv_req_notify_cq(told_, 1), 0);
  receive(0);
  EXPECT_EQ(events(), 0);
  receive(IBV_SEND_SOLICITED);
  EXPECT_EQ(events(), 1);
  ASSERT_EQ(ibv_req_notify_cq(told_, 1), 0);
  ASSERT_EQ(post_recv(receiver_, piece(512, 8), 7), 0);
  send(sender_, IBV_WR_SEND, 0, IBV_SEND_SIGNALED);  // 32 bytes
  poll(cq_, 1);
  EXPECT_EQ(events(), 1) << "the receive was too short";
}

}  // namespace
}  // namespace uroce::ibverbs
