// SPDX-License-Identifier: BSD-3-Clause
// Key checks: every refusal by its own name, and no range check that wraps around.
#include "memory/key_table.h"

#include <gtest/gtest.h>

#include "memory/memory_test.h"

namespace uroce::memory {
namespace {

TEST(KeyTable, GivesThePointerOfAGoodAccess) {
  OneRegion one(kRemoteRead);
  uint8_t* p = nullptr;
  ASSERT_EQ(one.keys.translate(one.kKey, one.kPd, kRemoteRead, one.address() + 10, 246, p),
            KeyVerdict::kGood);
  EXPECT_EQ(p, one.buffer.data() + 10);
}

TEST(KeyTable, NamesEachRefusal) {
  OneRegion one(kRemoteRead);
  uint8_t* p = nullptr;
  const uint64_t a = one.address();
  EXPECT_EQ(one.keys.translate(Key(0), one.kPd, 0, a, 1, p), KeyVerdict::kUnknownKey);
  EXPECT_EQ(one.keys.translate(Key(0x0103), one.kPd, 0, a, 1, p), KeyVerdict::kUnknownKey);
  EXPECT_EQ(one.keys.translate(Key(0xFFFFFF00), one.kPd, 0, a, 1, p), KeyVerdict::kUnknownKey);
  EXPECT_EQ(one.keys.translate(one.kKey, 8, 0, a, 1, p), KeyVerdict::kWrongDomain);
  EXPECT_EQ(one.keys.translate(one.kKey, one.kPd, kRemoteWrite, a, 1, p), KeyVerdict::kNoAccess);
  EXPECT_EQ(one.keys.translate(one.kKey, one.kPd, 0, a, 257, p), KeyVerdict::kOutOfRange);
  EXPECT_EQ(one.keys.translate(one.kKey, one.kPd, 0, a - 1, 1, p), KeyVerdict::kOutOfRange);
  EXPECT_EQ(one.keys.translate(one.kKey, one.kPd, 0, a + 256, 1, p), KeyVerdict::kOutOfRange);
  EXPECT_EQ(p, nullptr);
}

TEST(KeyTable, RangeCheckDoesNotWrapAround) {
  OneRegion one(0);
  uint8_t* p = nullptr;
  const uint64_t a = one.address();
  EXPECT_EQ(one.keys.translate(one.kKey, one.kPd, 0, a + 8, ~uint64_t{0}, p),
            KeyVerdict::kOutOfRange);
  EXPECT_EQ(one.keys.translate(one.kKey, one.kPd, 0, ~uint64_t{0}, a + 2, p),
            KeyVerdict::kOutOfRange);
}

TEST(KeyTable, GivesAllThatAKeyOpensOrTheSameRefusals) {
  OneRegion one(kFlushGlobal);
  std::span<uint8_t> range;
  ASSERT_EQ(one.keys.whole(one.kKey, one.kPd, kFlushGlobal, range), KeyVerdict::kGood);
  EXPECT_EQ(range.data(), one.buffer.data());
  EXPECT_EQ(range.size(), one.buffer.size());
  EXPECT_EQ(one.keys.whole(Key(0), one.kPd, 0, range), KeyVerdict::kUnknownKey);
  EXPECT_EQ(one.keys.whole(Key(0x0103), one.kPd, 0, range), KeyVerdict::kUnknownKey);
  EXPECT_EQ(one.keys.whole(Key(0xFFFFFF00), one.kPd, 0, range), KeyVerdict::kUnknownKey);
  EXPECT_EQ(one.keys.whole(one.kKey, 8, 0, range), KeyVerdict::kWrongDomain);
  EXPECT_EQ(one.keys.whole(one.kKey, one.kPd, kFlushPersistent, range), KeyVerdict::kNoAccess);
}

TEST(KeyTable, UnpublishedKeyIsGone) {
  OneRegion one(0);
  one.keys.unpublish(one.kKey);
  uint8_t* p = nullptr;
  EXPECT_EQ(one.keys.translate(one.kKey, one.kPd, 0, one.address(), 1, p), KeyVerdict::kUnknownKey);
}

}  // namespace
}  // namespace uroce::memory
