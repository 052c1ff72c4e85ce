// SPDX-License-Identifier: BSD-3-Clause
// Tests of the ibv_wr_*() calls: they write what ibv_post_send() writes, and refuse what it
// refuses.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <functional>

#include "ibverbs/traffic_fixture.h"

namespace uroce::ibverbs {
namespace {

constexpr uint64_t kAllOfConnections =
    (uint64_t{IBV_QP_EX_WITH_SEND_WITH_INV} << 1) - 1 + IBV_QP_EX_WITH_ATOMIC_WRITE;

class BuildTest : public TrafficTest {
 protected:
  // A connected queue pair with all builders, whose peer is not there.
  ibv_qp_ex* make_ready(ibv_qp_type type = IBV_QPT_RC, uint64_t flags = kAllOfConnections) {
    ibv_qp* const qp = make_builder(type, flags);
    bring_to(qp, IBV_QPS_RTS, 0x12);
    return ibv_qp_to_qp_ex(qp);
  }
  // Builds one request, posts another one, and expects the same in the ring.
  void expect_same(ibv_qp_ex* qp, const std::function<void()>& build, ibv_send_wr wr,
                   size_t payload_bytes) {
    const uint32_t first = sends_posted(&qp->qp_base);
    ibv_wr_start(qp);
    qp->wr_id = wr.wr_id;
    qp->wr_flags = wr.send_flags;
    build();
    ASSERT_EQ(ibv_wr_complete(qp), 0) << wr.opcode;
    if ((wr.send_flags & IBV_SEND_INLINE) == 0 && wr.opcode != IBV_WR_LOCAL_INV &&
        wr.opcode != IBV_WR_BIND_MW) {
      wr.num_sge = 1;
    }
    ASSERT_EQ(post(&qp->qp_base, wr), 0) << wr.opcode;
    const transport::SendQueue& queue = of(qp).handle.queues->send;
    const transport::SendWqe& built = queue.wqe(first);
    const transport::SendWqe& posted = queue.wqe(first + 1);
    EXPECT_EQ(built.wr_id, posted.wr_id);
    EXPECT_EQ(built.opcode, posted.opcode);
    EXPECT_EQ(built.flags, posted.flags) << wr.opcode;
    EXPECT_EQ(built.length, posted.length) << wr.opcode;
    EXPECT_EQ(std::memcmp(queue.payload_area(built), queue.payload_area(posted), payload_bytes), 0)
        << wr.opcode;
    EXPECT_EQ(sends_posted(&qp->qp_base), first + 2);
  }
  static int complete(ibv_qp_ex* qp, const std::function<void()>& build) {
    ibv_wr_start(qp);
    qp->wr_id = 1;
    qp->wr_flags = IBV_SEND_SIGNALED;
    build();
    return ibv_wr_complete(qp);
  }
};

TEST_F(BuildTest, OnlyQueuePairsMadeForItHaveBuilders) {
  EXPECT_EQ(ibv_qp_to_qp_ex(make(IBV_QPT_RC)), nullptr);
  EXPECT_NE(ibv_qp_to_qp_ex(make_builder(IBV_QPT_RC, IBV_QP_EX_WITH_SEND)), nullptr);
  EXPECT_TRUE(can_build(transport::QpType::kRc, kAllOfConnections));
  EXPECT_FALSE(can_build(transport::QpType::kRc, IBV_QP_EX_WITH_TSO));
  EXPECT_TRUE(
      can_build(transport::QpType::kUd, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM));
  EXPECT_FALSE(can_build(transport::QpType::kUd, IBV_QP_EX_WITH_RDMA_WRITE));
  EXPECT_FALSE(can_build(transport::QpType::kUc, IBV_QP_EX_WITH_RDMA_READ));
}

TEST_F(BuildTest, WhatIsBuiltIsWhatWouldHaveBeenPosted) {
  ibv_qp_ex* const qp = make_ready();
  ibv_sge sge = piece(64, 8);
  const auto data = [&] { ibv_wr_set_sge(qp, sge.lkey, sge.addr, sge.length); };
  ibv_send_wr wr = request(IBV_WR_SEND, sge, 21);
  wr.send_flags |= IBV_SEND_FENCE | IBV_SEND_SOLICITED;
  expect_same(
      qp,
      [&] {
        ibv_wr_send(qp);
        data();
      },
      wr, sizeof sge);
  wr = request(IBV_WR_SEND_WITH_IMM, sge, 22);
  wr.imm_data = 0x11223344;
  expect_same(
      qp,
      [&] {
        ibv_wr_send_imm(qp, 0x11223344);
        data();
      },
      wr, sizeof sge);
  EXPECT_EQ(wqe(&qp->qp_base, 2).immediate_be, 0x11223344u);
  wr = request(IBV_WR_SEND_WITH_INV, sge, 23);
  wr.invalidate_rkey = 0x55;
  expect_same(
      qp,
      [&] {
        ibv_wr_send_inv(qp, 0x55);
        data();
      },
      wr, sizeof sge);
  EXPECT_EQ(wqe(&qp->qp_base, 4).immediate_be, 0x55u);
  wr = request(IBV_WR_LOCAL_INV, sge, 24);
  wr.num_sge = 0;
  wr.invalidate_rkey = 0x66;
  expect_same(
      qp, [&] { ibv_wr_local_inv(qp, 0x66); }, wr, 0);
  EXPECT_EQ(wqe(&qp->qp_base, 6).rkey, 0x66u);
}

TEST_F(BuildTest, RdmaAndAtomicsAreBuiltWithTheirOperands) {
  ibv_qp_ex* const qp = make_ready();
  ibv_sge sge = piece(64, 8);
  const auto data = [&] { ibv_wr_set_sge(qp, sge.lkey, sge.addr, sge.length); };
  ibv_send_wr wr = request(IBV_WR_RDMA_READ, sge, 1);
  wr.wr.rdma = {.remote_addr = address(128), .rkey = 9};
  expect_same(
      qp,
      [&] {
        ibv_wr_rdma_read(qp, 9, address(128));
        data();
      },
      wr, sizeof sge);
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.imm_data = 3;
  expect_same(
      qp,
      [&] {
        ibv_wr_rdma_write_imm(qp, 9, address(128), 3);
        data();
      },
      wr, sizeof sge);
  wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, sge, 2);
  wr.wr.atomic = {.remote_addr = address(128), .compare_add = 5, .swap = 6, .rkey = 9};
  expect_same(
      qp,
      [&] {
        ibv_wr_atomic_cmp_swp(qp, 9, address(128), 5, 6);
        data();
      },
      wr, sizeof sge);
  wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  expect_same(
      qp,
      [&] {
        ibv_wr_atomic_fetch_add(qp, 9, address(128), 5);
        data();
      },
      wr, sizeof sge);
  for (const uint32_t index : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
    EXPECT_EQ(wqe(&qp->qp_base, index).remote_address, address(128)) << index;
    EXPECT_EQ(wqe(&qp->qp_base, index).rkey, 9u) << index;
  }
  EXPECT_EQ(wqe(&qp->qp_base, 4).compare_add, 5u);
  EXPECT_EQ(wqe(&qp->qp_base, 4).swap, 6u);
  EXPECT_EQ(wqe(&qp->qp_base, 6).compare_add, 5u);
}

TEST_F(BuildTest, ListsAndInlineDataAreCopiedAndHaveTheirLimits) {
  ibv_qp_ex* const qp = make_ready();
  put(0, "one two ");
  std::array<ibv_sge, 3> list{piece(0, 4), piece(4, 4), piece(0, 4)};
  ibv_send_wr wr = request(IBV_WR_SEND, list[0]);
  wr.num_sge = 2;
  ibv_wr_start(qp);
  qp->wr_flags = 0;
  ibv_wr_send(qp);
  ibv_wr_set_sge_list(qp, 2, list.data());
  ASSERT_EQ(ibv_wr_complete(qp), 0);
  EXPECT_EQ(wqe(&qp->qp_base, 0).length, 8u);
  EXPECT_EQ(wqe(&qp->qp_base, 0).sge_count, 2);
  const std::array<ibv_data_buf, 2> buffers{ibv_data_buf{memory_.data(), 4},
                                            ibv_data_buf{memory_.data() + 4, 4}};
  wr.send_flags |= IBV_SEND_INLINE;
  expect_same(
      qp,
      [&] {
        ibv_wr_send(qp);
        ibv_wr_set_inline_data_list(qp, 2, buffers.data());
      },
      wr, 8);
  wr.num_sge = 1;
  expect_same(
      qp,
      [&] {
        ibv_wr_send(qp);
        ibv_wr_set_inline_data(qp, memory_.data(), 4);
      },
      wr, 4);
  const uint32_t posted = sends_posted(&qp->qp_base);
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_send(qp);
                       ibv_wr_set_sge_list(qp, 3, list.data());
                     }),
            EINVAL);
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_send(qp);
                       ibv_wr_set_inline_data(qp, memory_.data(), 65);
                     }),
            EINVAL);
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_rdma_read(qp, 1, 2);
                       ibv_wr_set_inline_data(qp, memory_.data(), 8);
                     }),
            EINVAL);
  EXPECT_EQ(sends_posted(&qp->qp_base), posted);
}

TEST_F(BuildTest, TheFirstErrorIsReturnedAndNothingIsPosted) {
  ibv_qp_ex* const qp =
      make_ready(IBV_QPT_RC, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
  const auto good = [&] {
    ibv_wr_send(qp);
    ibv_wr_set_inline_data(qp, memory_.data(), 4);
  };
  EXPECT_EQ(complete(qp,
                     [&] {
                       good();
                       ibv_wr_rdma_read(qp, 1, 8);
                       good();
                     }),
            EINVAL)
      << "not asked for when the queue pair was made";
  EXPECT_EQ(complete(qp, [&] { ibv_wr_set_sge(qp, 1, 2, 3); }), EINVAL) << "of which request?";
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_atomic_fetch_add(qp, 1, 8, 1);
                       good();
                     }),
            EINVAL)
      << "an atomic without its word";
  EXPECT_EQ(complete(qp,
                     [&] {
                       for (int i = 0; i < 9; ++i) good();
                     }),
            ENOMEM);
  EXPECT_EQ(complete(qp,
                     [&] {
                       good();
                       ibv_wr_set_ud_addr(qp, nullptr, 1, 2);
                     }),
            EINVAL);
  EXPECT_EQ(sends_posted(&qp->qp_base), 0u);
  ibv_wr_start(qp);
  good();
  ibv_wr_abort(qp);
  EXPECT_EQ(sends_posted(&qp->qp_base), 0u);
  EXPECT_EQ(complete(qp,
                     [&] {
                       for (int i = 0; i < 8; ++i) good();
                     }),
            0);
  EXPECT_EQ(sends_posted(&qp->qp_base), 8u);
}

TEST_F(BuildTest, AStateThatCannotSendRefuses) {
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(make_builder(IBV_QPT_RC, IBV_QP_EX_WITH_SEND));
  EXPECT_EQ(complete(qp, [&] { ibv_wr_send(qp); }), EINVAL);
}

TEST_F(BuildTest, ADatagramNeedsAnAddressAndFitsThePort) {
  ibv_qp_ex* const qp = make_ready(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
  ibv_ah_attr attr = to(device::kTestIpv4);
  ibv_ah* const ah = ibv_create_ah(pd_, &attr);
  ASSERT_NE(ah, nullptr);
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_send(qp);
                       ibv_wr_set_sge(qp, mr_->lkey, address(0), 8);
                     }),
            EINVAL);
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_send(qp);
                       ibv_wr_set_ud_addr(qp, ah, 5, kTestQkey);
                       ibv_wr_set_sge(qp, mr_->lkey, address(0), 4097);
                     }),
            EINVAL);
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_send(qp);
                       ibv_wr_set_sge(qp, mr_->lkey, address(0), 8);
                       ibv_wr_set_ud_addr(qp, ah, 5, kTestQkey);
                     }),
            0);
  EXPECT_EQ(wqe(&qp->qp_base, 0).remote_qpn, 5u);
  EXPECT_EQ(wqe(&qp->qp_base, 0).remote_qkey, kTestQkey);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(BuildTest, XrcNeedsTheNumberOfASharedReceiveQueue) {
  ibv_qp_ex* const qp = make_ready(IBV_QPT_XRC_SEND);
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_send(qp);
                       ibv_wr_set_sge(qp, mr_->lkey, address(0), 8);
                     }),
            EINVAL);
  EXPECT_EQ(complete(qp,
                     [&] {
                       ibv_wr_send(qp);
                       ibv_wr_set_xrc_srqn(qp, 0x1000007);
                       ibv_wr_set_sge(qp, mr_->lkey, address(0), 8);
                       ibv_wr_local_inv(qp, 1);  // goes nowhere
                     }),
            0);
  EXPECT_EQ(wqe(&qp->qp_base, 0).remote_qpn, 7u);
}

}  // namespace
}  // namespace uroce::ibverbs
