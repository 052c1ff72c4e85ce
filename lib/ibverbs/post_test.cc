// SPDX-License-Identifier: BSD-3-Clause
// Tests of posting: what is refused and how, and what rdma-core's fields become in the ring.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "ibverbs/traffic_fixture.h"

namespace uroce::ibverbs {
namespace {

class PostTest : public TrafficTest {};

// PS-01, PR-01.
TEST_F(PostTest, StatesThatCannotSendOrReceiveRefuse) {
  ibv_qp* const qp = make(IBV_QPT_RC);
  ibv_sge sge = piece(0, 8);
  ibv_send_wr wr = request(IBV_WR_SEND, sge);
  EXPECT_EQ(post(qp, wr), EINVAL);
  EXPECT_EQ(post_recv(qp, sge, 1), EINVAL);
  bring_to(qp, IBV_QPS_RTR, qp->qp_num);
  EXPECT_EQ(post(qp, wr), EINVAL);
  EXPECT_EQ(post_recv(qp, sge, 1), 0);
  EXPECT_EQ(sends_posted(qp), 0u);
}

// PS-02, PR-03.
TEST_F(PostTest, AFullQueueIsNoMemoryAndNamesTheFirstThatFoundNoRoom) {
  const auto [a, b] = connected();
  std::array<ibv_send_wr, 9> list{};
  ibv_sge sge = piece(0, 8);
  for (size_t i = 0; i < list.size(); ++i) {
    list[i] = request(IBV_WR_SEND, sge);
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
  }
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(a, list.data(), &bad), ENOMEM);
  EXPECT_EQ(bad, &list[8]);
  EXPECT_EQ(sends_posted(a), 8u);
  std::array<ibv_recv_wr, 9> receives{};
  for (size_t i = 0; i < receives.size(); ++i) {
    receives[i] = {.wr_id = i,
                   .next = i + 1 < receives.size() ? &receives[i + 1] : nullptr,
                   .sg_list = &sge,
                   .num_sge = 1};
  }
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(ibv_post_recv(b, receives.data(), &bad_receive), ENOMEM);
  EXPECT_EQ(bad_receive, &receives[8]);
}

TEST_F(PostTest, OpcodesThatTheTypeOrThisFaceDoesNotHaveAreRefused) {
  const auto [rc, rc_peer] = connected(IBV_QPT_RC);
  const auto [uc, uc_peer] = connected(IBV_QPT_UC);
  ibv_sge sge = piece(0, 8);
  for (const int opcode : {int{IBV_WR_TSO}, int{IBV_WR_DRIVER1}, 12, 14, 32, 64, 1 << 20}) {
    ibv_send_wr wr = request(static_cast<ibv_wr_opcode>(opcode), sge);
    EXPECT_EQ(post(rc, wr), EINVAL) << opcode;
  }
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV, IBV_WR_LOCAL_INV}) {
    ibv_send_wr wr = request(opcode, sge);
    EXPECT_EQ(post(uc, wr), EINVAL) << opcode;
  }
  EXPECT_EQ(sends_posted(rc), 0u);
  EXPECT_EQ(sends_posted(uc), 0u);
}

TEST_F(PostTest, InlineDataAndListsHaveLimits) {
  const auto [a, b] = connected();
  ibv_sge sge = piece(0, 65);
  ibv_send_wr wr = request(IBV_WR_SEND, sge);
  wr.send_flags |= IBV_SEND_INLINE;
  EXPECT_EQ(post(a, wr), EINVAL) << "64 bytes were agreed on";
  wr.opcode = IBV_WR_RDMA_READ;
  sge.length = 8;
  EXPECT_EQ(post(a, wr), EINVAL) << "a READ has no inline data";
  wr = request(IBV_WR_SEND, sge);
  wr.num_sge = 3;
  EXPECT_EQ(post(a, wr), EINVAL) << "2 pieces were agreed on";
  wr.num_sge = -1;
  EXPECT_EQ(post(a, wr), EINVAL);
}

TEST_F(PostTest, ADatagramHasAnAddressOfItsDomainAndFitsThePort) {
  ibv_qp* const qp = make(IBV_QPT_UD);
  bring_to(qp, IBV_QPS_RTS);
  ibv_ah_attr attr = to(device::kTestIpv4);
  ibv_ah* const ah = ibv_create_ah(pd_, &attr);
  ASSERT_NE(ah, nullptr);
  ibv_sge sge = piece(0, 8);
  ibv_send_wr wr = request(IBV_WR_SEND, sge);
  EXPECT_EQ(post(qp, wr), EINVAL) << "no address";
  wr.wr.ud = {.ah = ah, .remote_qpn = 0x1234567, .remote_qkey = 0x80000000};
  EXPECT_EQ(post(qp, wr), 0);
  EXPECT_EQ(wqe(qp, 0).remote_qpn, 0x234567u);
  EXPECT_EQ(wqe(qp, 0).remote_qkey, 0x80000000u);
  sge.length = 4097;
  EXPECT_EQ(post(qp, wr), EINVAL) << "longer than the port's MTU";
  ibv_pd* const other = ibv_alloc_pd(context_);
  ibv_ah* const foreign = ibv_create_ah(other, &attr);
  sge.length = 8;
  wr.wr.ud.ah = foreign;
  EXPECT_EQ(post(qp, wr), EINVAL) << "an address of another domain";
  EXPECT_EQ(ibv_destroy_ah(foreign), 0);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(PostTest, TheFieldsOfARequestAreWhereTheEngineLooks) {
  const auto [a, b] = connected();
  ibv_sge sge = piece(64, 8);
  ibv_send_wr wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, sge, 77);
  wr.send_flags |= IBV_SEND_FENCE | IBV_SEND_SOLICITED | IBV_SEND_IP_CSUM;
  wr.imm_data = 0x01020304;
  wr.wr.rdma = {.remote_addr = address(128), .rkey = mr_->rkey};
  ASSERT_EQ(post(a, wr), 0);
  EXPECT_EQ(wqe(a, 0).wr_id, 77u);
  EXPECT_EQ(wqe(a, 0).immediate_be, 0x01020304u);
  EXPECT_EQ(wqe(a, 0).remote_address, address(128));
  EXPECT_EQ(wqe(a, 0).rkey, mr_->rkey);
  EXPECT_EQ(wqe(a, 0).flags,
            transport::kSendFence | transport::kSendSignaled | transport::kSendSolicited);
  wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, sge);
  wr.wr.atomic = {.remote_addr = address(128), .compare_add = 5, .swap = 6, .rkey = mr_->rkey};
  ASSERT_EQ(post(a, wr), 0);
  EXPECT_EQ(wqe(a, 1).remote_address, address(128));
  EXPECT_EQ(wqe(a, 1).rkey, mr_->rkey);
  EXPECT_EQ(wqe(a, 1).compare_add, 5u);
  EXPECT_EQ(wqe(a, 1).swap, 6u);
  wr.wr.atomic.remote_addr += 4;
  EXPECT_EQ(post(a, wr), EINVAL) << "not a word";
  wr = request(IBV_WR_LOCAL_INV, sge);
  wr.invalidate_rkey = 0x1234;
  EXPECT_EQ(post(a, wr), EINVAL) << "it has no data";
  wr.num_sge = 0;
  ASSERT_EQ(post(a, wr), 0);
  EXPECT_EQ(wqe(a, 2).rkey, 0x1234u);
}

// The queue of completions is not made too short for what is on its way.
TEST_F(PostTest, WhatIsPostedIsCountedWhenItsCompletionQueueIsMadeShorter) {
  ibv_qp* const qp = make(IBV_QPT_UD);
  bring_to(qp, IBV_QPS_RTS);
  ibv_ah_attr attr = to(device::kTestIpv4);
  ibv_ah* const ah = ibv_create_ah(pd_, &attr);
  ASSERT_NE(ah, nullptr);
  for (int i = 0; i < 3; ++i) {
    ibv_sge sge = piece(0, 8);
    ibv_send_wr wr = request(IBV_WR_SEND, sge);
    wr.wr.ud = {.ah = ah, .remote_qpn = qp->qp_num, .remote_qkey = kTestQkey};
    ASSERT_EQ(post(qp, wr), 0);
  }
  runtime_.others_drive = true;
  EXPECT_EQ(ibv_resize_cq(cq_, 2), EINVAL);
  EXPECT_EQ(ibv_resize_cq(cq_, 3), 0);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(PostTest, BindingAWindowOfTypeOneGivesItANewKey) {
  const auto [a, b] = connected();
  ibv_mw* const mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_1);
  ASSERT_NE(mw, nullptr);
  const uint32_t before = mw->rkey;
  ibv_mw_bind bind{
      .wr_id = 9,
      .send_flags = IBV_SEND_SIGNALED,
      .bind_info = {.mr = mr_,
                    .addr = address(256),
                    .length = 64,
                    .mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE}};
  ASSERT_EQ(ibv_bind_mw(a, mw, &bind), 0);
  EXPECT_EQ(mw->rkey, ibv_inc_rkey(before));
  const ibv_wc bound = poll_one();
  EXPECT_EQ(bound.wr_id, 9u);
  EXPECT_EQ(bound.opcode, IBV_WC_BIND_MW);
  put(0, "through the window");
  ibv_sge sge = piece(0, 18);
  ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, sge);
  wr.wr.rdma = {.remote_addr = address(256), .rkey = mw->rkey};
  ASSERT_EQ(post(b, wr), 0);
  poll_one();
  EXPECT_EQ(text(256, 18), "through the window");
  // Unbound by an empty bind, which renames it too.
  bind.bind_info = {.mr = nullptr, .addr = 0, .length = 0, .mw_access_flags = 0};
  ASSERT_EQ(ibv_bind_mw(a, mw, &bind), 0);
  poll_one();
  EXPECT_EQ(mw->rkey, ibv_inc_rkey(ibv_inc_rkey(before)));
  ibv_qp* const idle = make(IBV_QPT_RC);
  EXPECT_EQ(ibv_bind_mw(idle, mw, &bind), EINVAL);
  EXPECT_EQ(mw->rkey, ibv_inc_rkey(ibv_inc_rkey(before))) << "a refused bind changes nothing";
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
