// SPDX-License-Identifier: BSD-3-Clause
// Tests of extended completion queues: going through completions, and every reader.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "ibverbs/traffic_fixture.h"

namespace uroce::ibverbs {
namespace {

class PollExTest : public TrafficTest {
 protected:
  PollExTest() {
    ibv_cq_init_attr_ex attr{};
    attr.cqe = 16;
    attr.wc_flags = IBV_WC_STANDARD_FLAGS | uint64_t{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP} |
                    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK | IBV_WC_EX_WITH_CVLAN;
    read_ = ibv_create_cq_ex(context_, &attr);
    EXPECT_NE(read_, nullptr);
    ibv_qp_init_attr receives = init(IBV_QPT_UD);
    receives.recv_cq = ibv_cq_ex_to_cq(read_);
    receiver_ = make(receives);
    sender_ = make(IBV_QPT_UD);
    for (ibv_qp* const qp : {sender_, receiver_}) bring_to(qp, IBV_QPS_RTS);
    ibv_ah_attr to_self = to(device::kTestIpv4);
    ah_ = ibv_create_ah(pd_, &to_self);
    EXPECT_NE(ah_, nullptr);
  }
  ~PollExTest() override {
    EXPECT_EQ(ibv_destroy_ah(ah_), 0);
    for (ibv_qp* const qp : {sender_, receiver_}) {
      forget(qp);
      EXPECT_EQ(ibv_destroy_qp(qp), 0);
    }
    EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(read_)), 0);
  }
  void send(uint64_t id) {
    ASSERT_EQ(post_recv(receiver_, piece(512, 128), id), 0);
    ibv_sge sge = piece(0, 32);
    ibv_send_wr wr = request(IBV_WR_SEND_WITH_IMM, sge);
    wr.imm_data = 0x0A0B0C0D;
    wr.wr.ud = {.ah = ah_, .remote_qpn = receiver_->qp_num, .remote_qkey = kTestQkey};
    ASSERT_EQ(post(sender_, wr), 0);
  }
  // As start_poll, until there is one.
  int start() {
    ibv_poll_cq_attr attr{};
    int error = ENOENT;
    for (int turns = 0; turns < 1000 && error == ENOENT; ++turns) {
      error = ibv_start_poll(read_, &attr);
    }
    return error;
  }

  ibv_cq_ex* read_ = nullptr;
  ibv_qp* sender_ = nullptr;
  ibv_qp* receiver_ = nullptr;
  ibv_ah* ah_ = nullptr;
};

TEST_F(PollExTest, AnEmptyQueueIsNotLockedAndUnknownWishesAreRefused) {
  ibv_poll_cq_attr attr{};
  EXPECT_EQ(ibv_start_poll(read_, &attr), ENOENT);
  EXPECT_EQ(ibv_start_poll(read_, &attr), ENOENT) << "the first one left it free";
  attr.comp_mask = 1;
  EXPECT_EQ(ibv_start_poll(read_, &attr), EINVAL);
}

TEST_F(PollExTest, EveryReaderKnowsTheCompletionOfTheMoment) {
  const int64_t before = bed().clock().time_since_epoch().count();
  send(41);
  ASSERT_EQ(start(), 0);
  EXPECT_EQ(read_->wr_id, 41u);
  EXPECT_EQ(read_->status, IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_wc_read_opcode(read_), IBV_WC_RECV);
  EXPECT_EQ(ibv_wc_read_vendor_err(read_), 0u);
  EXPECT_EQ(ibv_wc_read_byte_len(read_), 72u);
  EXPECT_EQ(ibv_wc_read_imm_data(read_), 0x0A0B0C0Du);
  EXPECT_EQ(ibv_wc_read_qp_num(read_), receiver_->qp_num);
  EXPECT_EQ(ibv_wc_read_src_qp(read_), sender_->qp_num);
  EXPECT_EQ(ibv_wc_read_wc_flags(read_), unsigned{IBV_WC_GRH} | IBV_WC_WITH_IMM);
  EXPECT_EQ(ibv_wc_read_slid(read_), 0u);
  EXPECT_EQ(ibv_wc_read_sl(read_), 0xA);
  EXPECT_EQ(ibv_wc_read_dlid_path_bits(read_), 0);
  EXPECT_EQ(ibv_wc_read_cvlan(read_), 0);
  const auto arrival = static_cast<int64_t>(ibv_wc_read_completion_ts(read_));
  EXPECT_GE(arrival, before);
  EXPECT_LE(arrival, bed().clock().time_since_epoch().count());
  ibv_end_poll(read_);
}

TEST_F(PollExTest, TheWallclockIsAsLongAgoAsTheTimestamp) {
  send(1);
  ASSERT_EQ(start(), 0);
  const auto wall_ns = [] {
    return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  bed().pass(std::chrono::seconds(100));
  const int64_t age = bed().clock().time_since_epoch().count() -
                      static_cast<int64_t>(ibv_wc_read_completion_ts(read_));
  const int64_t before = wall_ns();
  const auto wall = static_cast<int64_t>(ibv_wc_read_completion_wallclock_ns(read_));
  EXPECT_GE(age, 100'000'000'000);
  EXPECT_GE(wall, before - age);
  EXPECT_LE(wall, wall_ns() - age);
  ibv_end_poll(read_);
}

TEST_F(PollExTest, NextGoesOnUntilThereIsNoMoreAndTheQueueCanBePolledAgain) {
  for (uint64_t id = 1; id <= 3; ++id) send(id);
  bed().settle();
  ASSERT_EQ(start(), 0);
  EXPECT_EQ(read_->wr_id, 1u);
  ASSERT_EQ(ibv_next_poll(read_), 0);
  EXPECT_EQ(read_->wr_id, 2u);
  ibv_end_poll(read_);
  ASSERT_EQ(start(), 0);
  EXPECT_EQ(read_->wr_id, 3u);
  EXPECT_EQ(ibv_next_poll(read_), ENOENT);
  ibv_end_poll(read_);
  send(4);
  const std::vector<ibv_wc> plain = poll(ibv_cq_ex_to_cq(read_), 1);
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].wr_id, 4u);
}

// No packet is stamped when a request of one's own completes: it has the time of the poll.
TEST_F(PollExTest, CompletionsOfSendsHaveATimeTooWhereOneWasAskedFor) {
  ibv_qp_init_attr attr = init(IBV_QPT_UD);
  attr.send_cq = ibv_cq_ex_to_cq(read_);
  ibv_qp* const qp = make(attr);
  bring_to(qp, IBV_QPS_RTS);
  ibv_sge sge = piece(0, 32);
  ibv_send_wr wr = request(IBV_WR_SEND, sge);
  wr.wr.ud = {.ah = ah_, .remote_qpn = receiver_->qp_num, .remote_qkey = kTestQkey};
  ASSERT_EQ(post(qp, wr), 0);
  bed().settle();
  const int64_t now = bed().clock().time_since_epoch().count();
  ASSERT_EQ(start(), 0);
  EXPECT_EQ(ibv_wc_read_opcode(read_), IBV_WC_SEND);
  EXPECT_EQ(static_cast<int64_t>(ibv_wc_read_completion_ts(read_)), now);
  ibv_end_poll(read_);
  forget(qp);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

TEST_F(PollExTest, TheVlanOfATaggedPacketCanBeRead) {
  Cq& cq = of(read_);
  cq.current.vlan_id = 7;
  cq.current.wc_flags = transport::kWcWithVlan;
  EXPECT_EQ(ibv_wc_read_cvlan(read_), 7);
  cq.current.wc_flags = 0;
  EXPECT_EQ(ibv_wc_read_cvlan(read_), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
