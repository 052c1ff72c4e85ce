// SPDX-License-Identifier: BSD-3-Clause
// Tests of polling: counts, order, and every field of a completion.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace uroce::verbs
