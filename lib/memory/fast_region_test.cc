// SPDX-License-Identifier: BSD-3-Clause
// Fast registration: what REG_MR needs, and what it must wait for.
#include "memory/fast_region.h"

#include "memory/change_fixture.h"

namespace uroce::memory {
namespace {

constexpr Key kNewKey{0x0211};

class FastRegion : public ChangeFixture {
 protected:
  Change reg(const FastRegistration& request, uint32_t engine = 0) {
    return register_fast(keys, who(engine), request);
  }
};

TEST_F(FastRegion, IsNoMemoryUntilItIsRegistered) {
  EXPECT_EQ(remote(kFastKey, 0), KeyVerdict::kUnknownKey);
  ASSERT_EQ(reg(registration(kNewKey)), Change::kDone);
  EXPECT_EQ(remote(kNewKey, 0), KeyVerdict::kGood);
  EXPECT_EQ(pointer, buffer.data());
  EXPECT_EQ(remote(kFastKey, 0), KeyVerdict::kUnknownKey) << "the key before";
  EXPECT_EQ(remote(kNewKey, 57), KeyVerdict::kOutOfRange);
}

TEST_F(FastRegion, IsNamedByTheAddressesThatItIsGiven) {
  FastRegistration request = registration(kNewKey);
  request.iova = 0x10000;
  ASSERT_EQ(reg(request), Change::kDone);
  ASSERT_EQ(keys.translate(kNewKey, kPd, 0, 0x10010, 8, pointer), KeyVerdict::kGood);
  EXPECT_EQ(pointer, buffer.data() + 0x10);
}

TEST_F(FastRegion, AValidOneIsNotRegisteredOverAgain) {
  ASSERT_EQ(reg(registration(kNewKey)), Change::kDone);
  EXPECT_EQ(reg(registration(Key(0x0212))), Change::kRefused);
  EXPECT_EQ(remote(kNewKey, 0), KeyVerdict::kGood);
  ASSERT_EQ(end(kNewKey), Change::kDone);
  EXPECT_EQ(reg(registration(Key(0x0212))), Change::kDone);
  EXPECT_EQ(remote(kNewKey, 0), KeyVerdict::kUnknownKey);
}

TEST_F(FastRegion, TheKeyMayChangeInItsLowEightBitsOnly) {
  EXPECT_EQ(reg(registration(Key(0x0311))), Change::kRefused);
  EXPECT_EQ(reg(registration(Key(0x02FF))), Change::kDone);
}

TEST_F(FastRegion, OtherKindsDomainsAndSlotsAreRefused) {
  FastRegistration request = registration(kNewKey);
  EXPECT_EQ(register_fast(keys, who(0, kQpn, kPd + 1), request), Change::kRefused);
  for (const Key key : {kRegionKey, kWindow1Key, kWindow2Key, Key(0x0500), Key(0xFFFFFF00)}) {
    request.region = request.new_key = key;
    EXPECT_EQ(reg(request), Change::kRefused) << key.value();
  }
}

// case 52
TEST_F(FastRegion, ARangeThatIsEmptyOrWrapsAroundIsRefused) {
  FastRegistration request = registration(kNewKey);
  request.length = 0;
  EXPECT_EQ(reg(request), Change::kRefused);
  request.length = 64;
  request.iova = UINT64_MAX - 62;
  EXPECT_EQ(reg(request), Change::kRefused);
}

// Another engine's turn may still use what the slot said before.
TEST_F(FastRegion, TheSlotIsWrittenOnlyWhenNoEngineReadsItsOldContents) {
  ASSERT_EQ(reg(registration(kNewKey)), Change::kDone);
  second.begin_turn(false);
  ASSERT_EQ(end(kNewKey), Change::kDone);
  FastRegistration again = registration(kNewKey);
  again.base += 128;
  EXPECT_EQ(reg(again), Change::kWait);
  EXPECT_EQ(remote(kNewKey, 0), KeyVerdict::kUnknownKey);
  second.end_turn();
  EXPECT_EQ(reg(again), Change::kDone);
  ASSERT_EQ(remote(kNewKey, 0), KeyVerdict::kGood);
  EXPECT_EQ(pointer, buffer.data() + 128);
}

TEST_F(FastRegion, AKeyThatAnotherEngineTookBackRestsAFullGracePeriodHere) {
  ASSERT_EQ(reg(registration(kNewKey)), Change::kDone);
  ASSERT_EQ(end(kNewKey, InvalidatedBy::kPeer, 1), Change::kDone);
  second.begin_turn(false);
  EXPECT_EQ(reg(registration(kNewKey)), Change::kWait);
  second.end_turn();
  EXPECT_EQ(reg(registration(kNewKey)), Change::kDone);
}

// Each waits for the other's turns, and neither may begin the other's waiting anew.
TEST_F(FastRegion, OfTwoEnginesThatWaitForOneSlotOneHasIt) {
  ASSERT_EQ(reg(registration(kNewKey)), Change::kDone);
  first.begin_turn(false);
  second.begin_turn(false);
  ASSERT_EQ(end(kNewKey), Change::kDone);
  const auto next_turn = [](EpochSlot& engine) {
    engine.end_turn();
    engine.begin_turn(false);
  };
  EXPECT_EQ(reg(registration(kNewKey), 1), Change::kWait);
  Change last = Change::kWait;
  for (uint32_t look = 0; last == Change::kWait && look < 20; ++look) {
    next_turn(look % 2 == 0 ? second : first);
    last = reg(registration(kNewKey), look % 2);
  }
  EXPECT_EQ(last, Change::kDone);
}

}  // namespace
}  // namespace uroce::memory
