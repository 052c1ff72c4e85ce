// SPDX-License-Identifier: BSD-3-Clause
// Atomics, ATOMIC WRITE and FLUSH through the verbs: what is refused, and what they do.
#include "verbs/operands.h"

#include <gtest/gtest.h>

#include <cstring>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class OperandsTest : public FaceTest {
 protected:
  static int post(ib_qp* qp, ib_send_wr& wr) { return ib_post_send(qp, &wr, nullptr); }
  ib_atomic_wr atomic(ib_wr_opcode opcode, ib_sge& sge) {
    ib_atomic_wr wr{};
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.wr.opcode = opcode;
    wr.wr.send_flags = IB_SEND_SIGNALED;
    wr.remote_addr = reinterpret_cast<__u64>(memory_.data());
    return wr;
  }
  static const transport::SendWqe& wqe(ib_qp* qp, uint32_t index) {
    return of(qp).handle.queues->send.wqe(index);
  }
};

// PS-05
TEST_F(OperandsTest, AnAtomicNamesOneAlignedWord) {
  const auto [a, b] = connected();
  (void)b;
  for (const ib_wr_opcode opcode :
       {IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_ATOMIC_WRITE}) {
    ib_sge sge = piece(memory_.data(), 8);
    ib_atomic_wr wr = atomic(opcode, sge);
    for (const __u32 length : {0u, 4u, 7u, 9u, 16u}) {
      sge.length = length;
      EXPECT_EQ(post(a, wr.wr), -EINVAL) << length;
    }
    sge.length = 8;
    for (const __u64 off : {1u, 4u, 7u}) {
      ib_atomic_wr odd = wr;
      odd.remote_addr += off;
      EXPECT_EQ(post(a, odd.wr), -EINVAL) << off;
    }
  }
  EXPECT_EQ(of(a).handle.queues->send.producer.load(), 0u);
}

TEST_F(OperandsTest, TheOperandsAreInTheRing) {
  const auto [a, b] = connected();
  (void)b;
  ib_sge sge = piece(memory_.data() + 64, 8);
  ib_atomic_wr swap = atomic(IB_WR_ATOMIC_CMP_AND_SWP, sge);
  swap.compare_add = 5;
  swap.swap = 6;
  swap.rkey = 0x77;
  ASSERT_EQ(post(a, swap.wr), 0);
  EXPECT_EQ(wqe(a, 0).remote_address, swap.remote_addr);
  EXPECT_EQ(wqe(a, 0).compare_add, 5u);
  EXPECT_EQ(wqe(a, 0).swap, 6u);
  EXPECT_EQ(wqe(a, 0).rkey, 0x77u);
  ib_flush_wr flush{};
  flush.wr.opcode = IB_WR_FLUSH;
  flush.remote_addr = 0x123457;
  flush.length = 1u << 31;
  flush.rkey = 0x78;
  flush.type = IB_FLUSH_GLOBAL | IB_FLUSH_PERSISTENT;
  flush.level = IB_FLUSH_MR;
  ASSERT_EQ(post(a, flush.wr), 0);
  EXPECT_EQ(wqe(a, 1).length, 1u << 31);
  EXPECT_EQ(wqe(a, 1).remote_address, 0x123457u) << "no word: aligned or not";
  EXPECT_EQ(wqe(a, 1).remote_qkey, 0x13u);
  EXPECT_EQ(wqe(a, 1).sge_count, 0u);
}

TEST_F(OperandsTest, AFlushNamesWhatAndHowFar) {
  const auto [a, b] = connected();
  (void)b;
  ib_flush_wr good{};
  good.wr.opcode = IB_WR_FLUSH;
  good.type = IB_FLUSH_GLOBAL;
  ib_flush_wr bad = good;
  bad.type = 0;
  EXPECT_EQ(post(a, bad.wr), -EINVAL);
  bad.type = 4;
  EXPECT_EQ(post(a, bad.wr), -EINVAL);
  bad = good;
  bad.level = 2;
  EXPECT_EQ(post(a, bad.wr), -EINVAL);
  bad = good;
  bad.length = (1u << 31) + 1;
  EXPECT_EQ(post(a, bad.wr), -EINVAL);
  bad = good;
  ib_sge sge = piece(memory_.data(), 1);
  bad.wr.sg_list = &sge;
  bad.wr.num_sge = 1;
  EXPECT_EQ(post(a, bad.wr), -EINVAL) << "it carries nothing";
  EXPECT_EQ(post(a, good.wr), 0);
}

// M7
TEST_F(OperandsTest, OnlyAnAtomicWriteMayBeInline) {
  const auto [a, b] = connected();
  (void)b;
  ib_sge sge = piece(memory_.data(), 8);
  for (const ib_wr_opcode opcode :
       {IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_FLUSH}) {
    ib_atomic_wr wr = atomic(opcode, sge);
    wr.wr.send_flags |= IB_SEND_INLINE;
    EXPECT_EQ(post(a, wr.wr), -EINVAL) << opcode;
  }
  ib_atomic_wr wr = atomic(IB_WR_ATOMIC_WRITE, sge);
  wr.wr.send_flags |= IB_SEND_INLINE;
  EXPECT_EQ(post(a, wr.wr), 0);
}

// M7
TEST_F(OperandsTest, OtherTypesDoNotHaveThem) {
  ib_qp* uc = make(IB_QPT_UC);
  bring_to(uc, IB_QPS_RTS, uc);
  ib_qp* ud = make(IB_QPT_UD);
  bring_to(ud, IB_QPS_RTS);
  ib_sge sge = piece(memory_.data(), 8);
  for (const ib_wr_opcode opcode :
       {IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_ATOMIC_WRITE, IB_WR_FLUSH}) {
    ib_atomic_wr wr = atomic(opcode, sge);
    EXPECT_EQ(post(uc, wr.wr), -EINVAL) << opcode;
    EXPECT_EQ(post(ud, wr.wr), -EINVAL) << opcode;
  }
}

TEST_F(OperandsTest, TheyDoWhatTheySay) {
  const auto [a, b] = connected();
  (void)b;
  alignas(8) std::array<__u64, 4> words{40, 0, 0, 0};
  ib_mr* mr =
      ib_reg_user_mr(pd_, reinterpret_cast<__u64>(words.data()), sizeof words, 0x10000,
                     IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC |
                         IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT);
  ASSERT_FALSE(IS_ERR(mr)) << PTR_ERR(mr);
  ib_sge old_values[2] = {piece(memory_.data(), 8), piece(memory_.data() + 8, 8)};
  ib_atomic_wr add = atomic(IB_WR_ATOMIC_FETCH_AND_ADD, old_values[0]);
  add.remote_addr = 0x10000;
  add.rkey = mr->rkey;
  add.compare_add = 2;
  ib_atomic_wr swap = atomic(IB_WR_ATOMIC_CMP_AND_SWP, old_values[1]);
  swap.remote_addr = 0x10000;
  swap.rkey = mr->rkey;
  swap.compare_add = 42;
  swap.swap = 7;
  const __u64 value = 0x1122334455667788;
  ib_sge from = piece(&value, 8);
  ib_rdma_wr write{};
  write.wr.sg_list = &from;
  write.wr.num_sge = 1;
  write.wr.opcode = IB_WR_ATOMIC_WRITE;
  write.wr.send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE;
  write.remote_addr = 0x10008;
  write.rkey = mr->rkey;
  ib_flush_wr flush{};
  flush.wr.opcode = IB_WR_FLUSH;
  flush.wr.send_flags = IB_SEND_SIGNALED;
  flush.remote_addr = 0x10000;
  flush.length = sizeof words;
  flush.rkey = mr->rkey;
  flush.type = IB_FLUSH_GLOBAL | IB_FLUSH_PERSISTENT;
  add.wr.next = &swap.wr;
  swap.wr.next = &write.wr;
  write.wr.next = &flush.wr;
  ASSERT_EQ(post(a, add.wr), 0);
  const std::vector<ib_wc> done = settle_and_poll();
  ASSERT_EQ(done.size(), 4u);
  const ib_wc_opcode opcodes[] = {IB_WC_FETCH_ADD, IB_WC_COMP_SWAP, IB_WC_ATOMIC_WRITE,
                                  IB_WC_FLUSH};
  for (size_t i = 0; i < done.size(); ++i) {
    EXPECT_EQ(done[i].status, IB_WC_SUCCESS) << i;
    EXPECT_EQ(done[i].opcode, opcodes[i]);
  }
  EXPECT_EQ(done[0].byte_len, 8u);
  __u64 old[2];
  std::memcpy(old, memory_.data(), sizeof old);
  EXPECT_EQ(old[0], 40u);
  EXPECT_EQ(old[1], 42u);
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(words[1], value);
  EXPECT_EQ(words[2], 0u);
  EXPECT_EQ(ib_dereg_mr(mr), 0);
}

TEST_F(OperandsTest, UnreliableConnectionsSendAndWrite) {
  const auto [a, b] = connected(IB_QPT_UC);
  std::memset(memory_.data(), 0x5A, 3000);
  ASSERT_EQ(post_recv(b, memory_.data() + 4000, 4000, 1), 0);
  ASSERT_EQ(post_send(a, memory_.data(), 3000, 2), 0);
  const std::vector<ib_wc> done = settle_and_poll();
  ASSERT_EQ(done.size(), 2u);
  for (const ib_wc& wc : done) EXPECT_EQ(wc.status, IB_WC_SUCCESS);
  EXPECT_EQ(memory_[4000 + 2999], 0x5A);
  EXPECT_EQ(memory_[4000 + 3000], 0);
  ib_rdma_wr read{};
  read.wr.opcode = IB_WR_RDMA_READ;
  EXPECT_EQ(post(a, read.wr), -EINVAL);
}

}  // namespace
}  // namespace uroce::verbs
