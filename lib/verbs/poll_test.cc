// SPDX-License-Identifier: BSD-3-Clause
// Tests of polling: counts, order, every field of a completion, and who gets one.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class PollTest : public FaceTest {
 protected:
  // As an engine would: straight into the lane.
  void complete(const transport::Cqe& cqe) {
    transport::CqLane& lane = of(cq_).handle.queue->lanes[0];
    lane.entries[lane.written++ & lane.mask] = cqe;
    lane.producer.store(lane.written, std::memory_order_release);
  }
  transport::Cqe entry(__u64 id) {
    transport::Cqe cqe{};
    cqe.wr_id = id;
    cqe.qp = this;  // any handle: only carried
    cqe.opcode = transport::WcOpcode::kRecv;
    return cqe;
  }
};

// CQ-08, CQ-09, CQ-10.
TEST_F(PollTest, GivesAsManyAsAreThereInOrder) {
  ib_wc wc[8];
  EXPECT_EQ(ib_poll_cq(cq_, 8, wc), 0);
  EXPECT_EQ(ib_poll_cq(cq_, 0, wc), 0);
  EXPECT_EQ(ib_poll_cq(cq_, -1, wc), -EINVAL);
  for (__u64 i = 0; i < 5; ++i) complete(entry(i));
  ASSERT_EQ(ib_poll_cq(cq_, 3, wc), 3);
  EXPECT_EQ(wc[2].wr_id, 2u);
  ASSERT_EQ(ib_poll_cq(cq_, 3, wc), 2);
  EXPECT_EQ(wc[1].wr_id, 4u);
}

TEST_F(PollTest, MoreThanOneBatchAtOnce) {
  for (__u64 i = 0; i < 40; ++i) complete(entry(i));
  const auto all = poll();
  ASSERT_EQ(all.size(), 40u);
  for (__u64 i = 0; i < 40; ++i) EXPECT_EQ(all[i].wr_id, i);
}

TEST_F(PollTest, EntriesTakenBackAreSkipped) {
  complete(entry(1));
  transport::Cqe gone = entry(2);
  gone.qp = nullptr;
  complete(gone);
  complete(entry(3));
  const auto all = poll();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].wr_id, 3u);
}

TEST_F(PollTest, EveryFieldIsCarriedOver) {
  transport::Cqe cqe = entry(0xFEDCBA9876543210);
  cqe.byte_len = 1234;
  cqe.immediate_be = 0x11223344;
  cqe.src_qpn = 0x77;
  cqe.status = transport::WcStatus::kRnrRetryExcErr;
  cqe.opcode = transport::WcOpcode::kRecvRdmaWithImm;
  cqe.wc_flags = transport::kWcWithImm | transport::kWcWithSmac | transport::kWcWithVlan |
                 transport::kWcWithNetworkHdrType | transport::kWcRxTimeHardware;
  cqe.arrival_ns = 0x1122334455667788;
  cqe.vlan_id = 42;
  cqe.smac[5] = 9;
  cqe.sl = 3;
  cqe.network_header = 3;
  complete(cqe);
  ib_wc wc{};
  ASSERT_EQ(ib_poll_cq(cq_, 1, &wc), 1);
  EXPECT_EQ(wc.wr_id, 0xFEDCBA9876543210);
  EXPECT_EQ(wc.byte_len, 1234u);
  EXPECT_EQ(wc.ex.imm_data, 0x11223344u);
  EXPECT_EQ(wc.src_qp, 0x77u);
  EXPECT_EQ(wc.status, IB_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wc.wc_flags, 2 | 16 | 32 | 64 | IB_WC_RX_TIME_HARDWARE);
  EXPECT_EQ(wc.rx_time_ns, 0x1122334455667788u);
  EXPECT_EQ(wc.vlan_id, 42);
  EXPECT_EQ(wc.smac[5], 9);
  EXPECT_EQ(wc.sl, 3);
  EXPECT_EQ(wc.network_hdr_type, RDMA_NETWORK_IPV6);
  EXPECT_EQ(static_cast<void*>(wc.qp), static_cast<void*>(this));
}

// Case 40: the choice of the creator reaches the engine, and query gives it back.
class SignalTest : public FaceTest {
 protected:
  // `own_` signals as told; its peer asks for a completion by each request.
  void connect(ib_sig_type type) {
    ib_qp_init_attr attr = init(IB_QPT_RC);
    attr.sq_sig_type = type;
    own_ = ib_create_qp(pd_, &attr);
    ASSERT_FALSE(IS_ERR(own_));
    qps_.push_back(own_);
    ib_qp* peer = make(IB_QPT_RC);
    bring_to(own_, IB_QPS_RTS, peer);
    bring_to(peer, IB_QPS_RTS, own_);
    ASSERT_EQ(post_recv(peer, memory_.data() + 4096, 64, 100), 0);
    ib_qp_attr now{};
    ib_qp_init_attr made{};
    ASSERT_EQ(ib_query_qp(own_, &now, 0, &made), 0);
    EXPECT_EQ(made.sq_sig_type, type);
  }
  // 8 bytes at the region's start, without a flag.
  int request(ib_wr_opcode opcode, __u64 id, __u32 rkey) {
    ib_sge sge = piece(memory_.data(), 8);
    ib_atomic_wr atomic{};
    ib_rdma_wr rdma{};
    const bool is_atomic = opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
    ib_send_wr& wr = is_atomic ? atomic.wr : rdma.wr;
    wr.wr_id = id;
    wr.opcode = opcode;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    atomic.remote_addr = rdma.remote_addr = 0x10000;
    atomic.rkey = rdma.rkey = rkey;
    return ib_post_send(own_, &wr, nullptr);
  }
  // Completions of requests, by identifier.
  std::vector<std::pair<__u64, ib_wc_status>> completed() {
    std::vector<std::pair<__u64, ib_wc_status>> result;
    for (const ib_wc& wc : settle_and_poll()) {
      if (wc.qp == own_) result.emplace_back(wc.wr_id, wc.status);
    }
    return result;
  }
  using Completed = std::vector<std::pair<__u64, ib_wc_status>>;
  ib_qp* own_ = nullptr;
};

TEST_F(SignalTest, EveryRequestCompletesOrNoneAsTheQueuePairWasMade) {
  ib_mr* mr = ib_reg_user_mr(pd_, reinterpret_cast<__u64>(memory_.data() + 1024), 1024, 0x10000,
                             IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
                                 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC);
  ASSERT_FALSE(IS_ERR(mr));
  const ib_wr_opcode opcodes[] = {IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ,
                                  IB_WR_ATOMIC_FETCH_AND_ADD};
  const auto post_all = [&] {
    __u64 id = 0;
    for (const ib_wr_opcode opcode : opcodes) ASSERT_EQ(request(opcode, ++id, mr->rkey), 0);
  };
  connect(IB_SIGNAL_ALL_WR);
  post_all();
  EXPECT_EQ(
      completed(),
      (Completed{{1, IB_WC_SUCCESS}, {2, IB_WC_SUCCESS}, {3, IB_WC_SUCCESS}, {4, IB_WC_SUCCESS}}));
  connect(IB_SIGNAL_REQ_WR);
  post_all();
  EXPECT_EQ(completed(), Completed{});
  ASSERT_EQ(request(IB_WR_RDMA_WRITE, 5, 0xBAD00), 0);
  EXPECT_EQ(completed(), (Completed{{5, IB_WC_REM_ACCESS_ERR}})) << "a failure always";
  EXPECT_EQ(ib_dereg_mr(mr), 0);
}

}  // namespace
}  // namespace uroce::verbs
