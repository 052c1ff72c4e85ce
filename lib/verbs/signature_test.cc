// SPDX-License-Identifier: BSD-3-Clause
// Tests of protection information: layouts, each kind of error, escapes, and data from a peer.
#include <gtest/gtest.h>

#include <cstddef>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

// Bit by bit, from the polynomial: a second opinion on the guard.
__u16 crc_of(const uint8_t* data, size_t length, __u16 crc = 0) {
  for (size_t i = 0; i < length; ++i) {
    crc = static_cast<__u16>(crc ^ data[i] << 8);
    for (int bit = 0; bit < 8; ++bit) {
      crc = static_cast<__u16>((crc & 0x8000) != 0 ? crc << 1 ^ 0x8BB7 : crc << 1);
    }
  }
  return crc;
}

class SignatureTest : public FaceTest {
 protected:
  static constexpr size_t kBlock = 512;
  static constexpr size_t kBlocks = 4;
  static constexpr __u32 kFirstRef = 0x1000;
  static constexpr __u16 kApp = 0x1234;

  SignatureTest() {
    for (size_t i = 0; i < kBlock * kBlocks; ++i) memory_[i] = static_cast<uint8_t>(i * 31 + 7);
    mr_ = ib_alloc_mr_integrity(pd_, 4, 4);
    EXPECT_FALSE(IS_ERR(mr_));
    for (size_t i = 0; i < kBlocks; ++i) write_tuple(i, tuple_at(i), block(i));
    describe();
  }
  ~SignatureTest() override { EXPECT_EQ(ib_dereg_mr(mr_), 0); }

  void describe() {
    ib_sig_attrs& attrs = *mr_->sig_attrs;
    attrs.check_mask = IB_SIG_CHECK_GUARD | IB_SIG_CHECK_REFTAG | IB_SIG_CHECK_APPTAG;
    attrs.mem.sig_type = IB_SIG_TYPE_T10_DIF;
    dif() = {};
    dif().pi_interval = kBlock;
    dif().app_tag = kApp;
    dif().ref_tag = kFirstRef;
    dif().ref_remap = true;
    dif().apptag_check_mask = 0xFFFF;
  }
  ib_t10_dif_domain& dif() { return mr_->sig_attrs->mem.sig.dif; }
  uint8_t* block(size_t number) { return memory_.data() + number * kBlock; }
  uint8_t* tuple_at(size_t number) { return memory_.data() + 4096 + number * 8; }
  void write_tuple(size_t number, uint8_t* at, const uint8_t* data) {
    const __u16 guard = crc_of(data, kBlock);
    const __u32 ref = kFirstRef + static_cast<__u32>(number);
    const uint8_t bytes[] = {static_cast<uint8_t>(guard >> 8),
                             static_cast<uint8_t>(guard),
                             kApp >> 8,
                             kApp & 0xFF,
                             static_cast<uint8_t>(ref >> 24),
                             static_cast<uint8_t>(ref >> 16),
                             static_cast<uint8_t>(ref >> 8),
                             static_cast<uint8_t>(ref)};
    std::memcpy(at, bytes, sizeof bytes);
  }
  static scatterlist range(const void* start, size_t bytes) {
    return {.dma_address = reinterpret_cast<__u64>(start), .length = static_cast<unsigned>(bytes)};
  }
  int map(size_t data_bytes = kBlock * kBlocks, size_t tuple_bytes = 8 * kBlocks) {
    scatterlist data = range(memory_.data(), data_bytes);
    scatterlist tuples = range(tuple_at(0), tuple_bytes);
    return ib_map_mr_sg_pi(mr_, &data, 1, nullptr, &tuples, tuple_bytes != 0 ? 1 : 0, nullptr,
                           4096);
  }
  int check() {
    std::memset(static_cast<void*>(&status_), 0xEE, sizeof status_);
    return ib_check_mr_status(mr_, IB_MR_CHECK_SIG_STATUS, &status_);
  }
  void expect_error(ib_sig_err_type type, size_t number, __u32 expected, __u32 actual) {
    ASSERT_EQ(check(), 0);
    EXPECT_EQ(status_.fail_status, __u32{IB_MR_CHECK_SIG_STATUS});
    EXPECT_EQ(status_.sig_err.err_type, type);
    EXPECT_EQ(status_.sig_err.sig_err_offset, number * kBlock);
    EXPECT_EQ(status_.sig_err.expected, expected);
    EXPECT_EQ(status_.sig_err.actual, actual);
    EXPECT_EQ(status_.sig_err.key, mr_->lkey);
  }
  void expect_pass() {
    ASSERT_EQ(check(), 0);
    EXPECT_EQ(status_.fail_status, 0u);
  }

  ib_mr* mr_ = nullptr;
  ib_mr_status status_{};
};

TEST_F(SignatureTest, GoodDataPasses) {
  EXPECT_EQ(mr_->type, IB_MR_TYPE_INTEGRITY);
  EXPECT_EQ(map(), 2);
  EXPECT_EQ(mr_->length, kBlock * kBlocks);
  EXPECT_EQ(mr_->sig_attrs->meta_length, 32);
  expect_pass();
}

TEST_F(SignatureTest, EachKindOfErrorIsFoundWhereItIs) {
  ASSERT_EQ(map(), 2);
  const __u16 good = crc_of(block(2), kBlock);
  block(2)[17] ^= 1;
  expect_error(IB_SIG_BAD_GUARD, 2, crc_of(block(2), kBlock), good);
  block(2)[17] ^= 1;
  tuple_at(1)[7] ^= 0x40;
  expect_error(IB_SIG_BAD_REFTAG, 1, kFirstRef + 1, (kFirstRef + 1) ^ 0x40);
  tuple_at(1)[7] ^= 0x40;
  tuple_at(3)[2] ^= 0x80;
  expect_error(IB_SIG_BAD_APPTAG, 3, kApp, kApp ^ 0x8000);
  dif().apptag_check_mask = 0x00FF;
  expect_pass();
}

TEST_F(SignatureTest, OnlyWhatIsAskedForIsChecked) {
  ASSERT_EQ(map(), 2);
  block(0)[0] ^= 1;
  tuple_at(1)[7] ^= 1;
  ib_sig_attrs& attrs = *mr_->sig_attrs;
  attrs.check_mask = IB_SIG_CHECK_APPTAG;
  expect_pass();
  attrs.check_mask = IB_SIG_CHECK_REFTAG;
  expect_error(IB_SIG_BAD_REFTAG, 1, kFirstRef + 1, (kFirstRef + 1) ^ 1);
  attrs.check_mask = 0;
  expect_pass();
  attrs.check_mask = IB_SIG_CHECK_GUARD;
  attrs.mem.sig_type = IB_SIG_TYPE_NONE;
  expect_pass();
  attrs.mem.sig_type = IB_SIG_TYPE_T10_DIF;
  ib_mr_status untouched{};
  EXPECT_EQ(ib_check_mr_status(mr_, 0, &untouched), 0);
  EXPECT_EQ(untouched.fail_status, 0u);
}

TEST_F(SignatureTest, EscapesLetABlockPass) {
  ASSERT_EQ(map(), 2);
  block(1)[5] ^= 1;
  std::memset(tuple_at(1) + 2, 0xFF, 2);
  dif().app_escape = true;
  expect_pass();
  dif().ref_escape = true;
  ASSERT_EQ(check(), 0);
  EXPECT_NE(status_.fail_status, 0u) << "with both, both must be all ones";
  std::memset(tuple_at(1) + 4, 0xFF, 4);
  expect_pass();
  dif().app_escape = false;
  expect_pass();
}

TEST_F(SignatureTest, SeedAndFixedReferenceTags) {
  ASSERT_EQ(map(kBlock, 8), 2);
  dif().bg = 0xFFFF;
  dif().ref_remap = false;
  expect_error(IB_SIG_BAD_GUARD, 0, crc_of(block(0), kBlock, 0xFFFF), crc_of(block(0), kBlock));
  dif().bg = 0;
  expect_pass();
  ASSERT_EQ(map(2 * kBlock, 16), 2);
  expect_error(IB_SIG_BAD_REFTAG, 1, kFirstRef, kFirstRef + 1);
}

TEST_F(SignatureTest, TuplesMayLieBetweenTheBlocks) {
  for (size_t i = kBlocks; i-- > 0;) {
    uint8_t* const at = memory_.data() + i * (kBlock + 8);
    std::memmove(at, block(i), kBlock);
    write_tuple(i, at + kBlock, at);
  }
  ASSERT_EQ(map(kBlocks * (kBlock + 8), 0), 1);
  expect_pass();
  memory_[3 * (kBlock + 8) + 9] ^= 1;
  ASSERT_EQ(check(), 0);
  EXPECT_EQ(status_.sig_err.err_type, IB_SIG_BAD_GUARD);
  EXPECT_EQ(status_.sig_err.sig_err_offset, 3 * kBlock);
}

TEST_F(SignatureTest, LayoutsThatDoNotFitAreRefused) {
  EXPECT_EQ(check(), -EINVAL) << "nothing mapped";
  EXPECT_EQ(status_.fail_status, 0xEEEEEEEEu) << "as it was";
  ASSERT_EQ(map(kBlock * kBlocks, 8), 2);
  EXPECT_EQ(check(), -EINVAL) << "one tuple for four blocks";
  ASSERT_EQ(map(kBlock + 1), 2);
  EXPECT_EQ(check(), -EINVAL) << "half a block";
  ASSERT_EQ(map(), 2);
  dif().pi_interval = 0;
  EXPECT_EQ(check(), -EINVAL);
  dif().pi_interval = kBlock;
  dif().bg_type = IB_T10DIF_CSUM;
  EXPECT_EQ(check(), -EOPNOTSUPP);
  dif().bg_type = IB_T10DIF_CRC;
  EXPECT_EQ(ib_check_mr_status(mr_, 2, &status_), -EINVAL);
  scatterlist apart[] = {range(tuple_at(0), 8), range(tuple_at(2), 8)};
  scatterlist data = range(memory_.data(), kBlock);
  EXPECT_EQ(ib_map_mr_sg_pi(mr_, &data, 1, nullptr, apart, 2, nullptr, 4096), -EINVAL);
  scatterlist nowhere = range(nullptr, 8);
  EXPECT_EQ(ib_map_mr_sg_pi(mr_, &data, 1, nullptr, &nowhere, 1, nullptr, 4096), -EFAULT);
  scatterlist many[5] = {};
  EXPECT_EQ(ib_map_mr_sg_pi(mr_, &data, 1, nullptr, many, 5, nullptr, 4096), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_mr_integrity(pd_, 0, 0)), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_mr_integrity(pd_, 1, 1u << 20)), -EINVAL);
}

// A peer writes blocks into the region; what it wrote is checked.
TEST_F(SignatureTest, DataThatAPeerWroteIsChecked) {
  ASSERT_EQ(map(), 2);
  const auto [left, right] = connected();
  ib_reg_wr reg{};
  reg.wr.opcode = IB_WR_REG_MR;
  reg.mr = mr_;
  reg.key = mr_->rkey;
  reg.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
  ASSERT_EQ(ib_post_send(right, &reg.wr, nullptr), 0);
  bed_.settle();
  std::array<uint8_t, kBlock> fresh{};
  fresh.fill(0x77);
  ib_sge sge = piece(fresh.data(), fresh.size());
  ib_rdma_wr write{};
  write.wr.sg_list = &sge;
  write.wr.num_sge = 1;
  write.wr.opcode = IB_WR_RDMA_WRITE;
  write.wr.send_flags = IB_SEND_SIGNALED;
  write.remote_addr = mr_->iova + kBlock;
  write.rkey = mr_->rkey;
  ASSERT_EQ(ib_post_send(left, &write.wr, nullptr), 0);
  const auto done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  ASSERT_EQ(done[0].status, IB_WC_SUCCESS);
  ASSERT_EQ(check(), 0);
  EXPECT_EQ(status_.sig_err.err_type, IB_SIG_BAD_GUARD);
  EXPECT_EQ(status_.sig_err.sig_err_offset, kBlock);
  write_tuple(1, tuple_at(1), block(1));
  expect_pass();
}

// MR-03.
TEST(SignatureLayout, IsTheKernels) {
  EXPECT_EQ(IB_MR_CHECK_SIG_STATUS, 1);
  EXPECT_EQ(IB_SIG_BAD_GUARD, 0);
  EXPECT_EQ(IB_SIG_BAD_REFTAG, 1);
  EXPECT_EQ(IB_SIG_BAD_APPTAG, 2);
  EXPECT_EQ(offsetof(ib_mr_status, fail_status), 0u);
  EXPECT_EQ(offsetof(ib_mr_status, sig_err), 8u);
  EXPECT_EQ(offsetof(ib_sig_err, expected), 4u);
  EXPECT_EQ(offsetof(ib_sig_err, actual), 8u);
  EXPECT_EQ(offsetof(ib_sig_err, sig_err_offset), 16u);
  EXPECT_EQ(offsetof(ib_sig_err, key), 24u);
}

// MR-04: without a signature there is nothing to check, and nothing is said.
TEST_F(SignatureTest, AnotherRegionHasNoStatus) {
  ib_mr* plain =
      ib_reg_user_mr(pd_, reinterpret_cast<__u64>(memory_.data()), 64, 0, IB_ACCESS_LOCAL_WRITE);
  ASSERT_FALSE(IS_ERR(plain));
  ib_mr* fast = ib_alloc_mr(pd_, IB_MR_TYPE_MEM_REG, 1);
  ASSERT_FALSE(IS_ERR(fast));
  for (ib_mr* mr : {plain, fast}) {
    std::memset(static_cast<void*>(&status_), 0xEE, sizeof status_);
    EXPECT_EQ(ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status_), -EOPNOTSUPP);
    EXPECT_EQ(status_.fail_status, 0xEEEEEEEEu);
    scatterlist data = range(memory_.data(), 64);
    EXPECT_EQ(ib_map_mr_sg_pi(mr, &data, 1, nullptr, nullptr, 0, nullptr, 4096), -EINVAL);
    EXPECT_EQ(ib_dereg_mr(mr), 0);
  }
}

}  // namespace
}  // namespace uroce::verbs
