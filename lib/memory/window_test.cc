// SPDX-License-Identifier: BSD-3-Clause
// Memory windows: the rules of binding and of use, one by one, for both types.
#include "memory/window.h"

#include "memory/change_fixture.h"

namespace uroce::memory {
namespace {

class Window : public ChangeFixture {
 protected:
  void both(void (*spoil)(WindowBind&), Change expected) {
    for (const Key window : {kWindow1Key, kWindow2Key}) {
      WindowBind request = bind_of(window, window);
      spoil(request);
      EXPECT_EQ(bind(request), expected) << window.value();
    }
  }
};

TEST_F(Window, OpensAPartOfTheRegionUnderItsOwnKey) {
  const Key key(kWindow1Key.value() + 1);
  EXPECT_EQ(remote(kWindow1Key, 16), KeyVerdict::kUnknownKey) << "not bound yet";
  ASSERT_EQ(bind(bind_of(kWindow1Key, key)), Change::kDone);
  ASSERT_EQ(remote(key, 16), KeyVerdict::kGood);
  EXPECT_EQ(pointer, buffer.data() + 16);
  EXPECT_EQ(remote(key, 40), KeyVerdict::kGood);
  EXPECT_EQ(remote(key, 41), KeyVerdict::kOutOfRange);
  EXPECT_EQ(remote(key, 15), KeyVerdict::kOutOfRange);
  EXPECT_EQ(remote(key, 16, kRemoteAtomic), KeyVerdict::kNoAccess);
  EXPECT_EQ(remote(key, 16, kRemoteRead, kQpn, kPd + 1), KeyVerdict::kWrongDomain);
  EXPECT_EQ(remote(kWindow1Key, 16), KeyVerdict::kUnknownKey) << "the key before";
}

// case 52
TEST_F(Window, RangeChecksOfUseDoNotWrapAround) {
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  EXPECT_EQ(keys.translate_remote(kWindow1Key, kPd, kQpn, kRemoteRead, address(20), ~uint64_t{0},
                                  pointer),
            KeyVerdict::kOutOfRange);
  EXPECT_EQ(keys.translate_remote(kWindow1Key, kPd, kQpn, kRemoteRead, ~uint64_t{0} - 7,
                                  address(20) + 8, pointer),
            KeyVerdict::kOutOfRange);
}

TEST_F(Window, IsNoLocalKey) {
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  EXPECT_EQ(keys.translate(kWindow1Key, kPd, kLocalRead, address(16), 8, pointer),
            KeyVerdict::kWrongDomain);
}

TEST_F(Window, TypeOneServesTheDomainTypeTwoTheQueuePairThatBoundIt) {
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  ASSERT_EQ(bind(bind_of(kWindow2Key, kWindow2Key)), Change::kDone);
  EXPECT_EQ(remote(kWindow1Key, 16, kRemoteRead, kOtherQpn), KeyVerdict::kGood);
  EXPECT_EQ(remote(kWindow2Key, 16, kRemoteRead, kQpn), KeyVerdict::kGood);
  EXPECT_EQ(remote(kWindow2Key, 16, kRemoteRead, kOtherQpn), KeyVerdict::kWrongDomain);
}

TEST_F(Window, TypeOneIsBoundAgainInOneStepTypeTwoOnlyWhenFree) {
  const Key first_key(kWindow1Key.value() + 1);
  const Key second_key(kWindow1Key.value() + 2);
  ASSERT_EQ(bind(bind_of(kWindow1Key, first_key)), Change::kDone);
  WindowBind elsewhere = bind_of(first_key, second_key);
  elsewhere.address = address(100);
  ASSERT_EQ(bind(elsewhere), Change::kDone);
  EXPECT_EQ(remote(first_key, 16), KeyVerdict::kUnknownKey);
  EXPECT_EQ(remote(second_key, 100), KeyVerdict::kGood);

  ASSERT_EQ(bind(bind_of(kWindow2Key, kWindow2Key)), Change::kDone);
  EXPECT_EQ(bind(bind_of(kWindow2Key, kWindow2Key)), Change::kRefused);
  ASSERT_EQ(end(kWindow2Key), Change::kDone);
  EXPECT_EQ(bind(bind_of(kWindow2Key, Key(kWindow2Key.value() + 1))), Change::kDone);
}

TEST_F(Window, LengthZeroUnbindsTypeOneAndIsRefusedForTypeTwo) {
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  WindowBind nothing = bind_of(kWindow1Key, Key(kWindow1Key.value() + 1));
  nothing.length = 0;
  ASSERT_EQ(bind(nothing), Change::kDone);
  EXPECT_EQ(remote(kWindow1Key, 16), KeyVerdict::kUnknownKey);
  EXPECT_EQ(remote(nothing.new_key, 16), KeyVerdict::kUnknownKey);
  EXPECT_TRUE(keys.retire(kRegionKey.index())) << "the region is free of windows";
  keys.revive(kRegionKey);
  EXPECT_EQ(bind(bind_of(nothing.new_key, kWindow1Key)), Change::kDone) << "by its new name";
  WindowBind two = bind_of(kWindow2Key, kWindow2Key);
  two.length = 0;
  EXPECT_EQ(bind(two), Change::kRefused);
}

TEST_F(Window, KeysMustBeExactAndChangeInTheirLowEightBitsOnly) {
  both([](WindowBind& b) { b.window = Key(b.window.value() + 1); }, Change::kRefused);
  both([](WindowBind& b) { b.new_key = Key(b.new_key.value() + 0x100); }, Change::kRefused);
  both([](WindowBind& b) { b.region = Key(b.region.value() + 1); }, Change::kRefused);
  both([](WindowBind& b) { b.region = kWindow1Key; }, Change::kRefused);
  both([](WindowBind& b) { b.window = b.new_key = kRegionKey; }, Change::kRefused);
  both([](WindowBind& b) { b.window = b.new_key = Key(0x0500); }, Change::kRefused);
  both([](WindowBind&) {}, Change::kDone);
}

TEST_F(Window, DomainsOfQueuePairWindowAndRegionMustBeOne) {
  EXPECT_EQ(bind_window(keys, who(0, kQpn, kPd + 1), bind_of(kWindow1Key, kWindow1Key), ticket),
            Change::kRefused);
  keys.publish(Key(0x0501), {buffer.data(), address(0), 256, kPd + 1, kAll | kMwBind});
  both([](WindowBind& b) { b.region = Key(0x0501); }, Change::kRefused);
}

TEST_F(Window, TheRegionMustPermitBindingAndNotBeZeroBased) {
  keys.publish(Key(0x0501), {buffer.data(), address(0), 256, kPd, kAll});
  both([](WindowBind& b) { b.region = Key(0x0501); }, Change::kRefused);
  keys.publish(Key(0x0601), {buffer.data(), 0, 256, kPd, kAll | kMwBind | kZeroBased});
  WindowBind request = bind_of(kWindow1Key, kWindow1Key);
  request.region = Key(0x0601);
  request.address = 0;
  EXPECT_EQ(bind(request), Change::kRefused);
}

TEST_F(Window, RightsToChangeNeedLocalWriteOfTheRegion) {
  keys.publish(Key(0x0501), {buffer.data(), address(0), 256, kPd, kMwBind});
  const auto on_readable = [](WindowBind& b, uint32_t access) {
    b.region = Key(0x0501);
    b.access = access;
  };
  for (const uint32_t access : {kRemoteWrite, kRemoteAtomic}) {
    WindowBind request = bind_of(kWindow1Key, kWindow1Key);
    on_readable(request, access);
    EXPECT_EQ(bind(request), Change::kRefused);
  }
  WindowBind request = bind_of(kWindow1Key, kWindow1Key);
  on_readable(request, kRemoteRead);
  EXPECT_EQ(bind(request), Change::kDone);
}

TEST_F(Window, OtherRightsAreRefused) {
  both([](WindowBind& b) { b.access |= kLocalWrite; }, Change::kRefused);
  both([](WindowBind& b) { b.access |= kMwBind; }, Change::kRefused);
  both([](WindowBind& b) { b.access |= 1u << 20; }, Change::kRefused);
}

TEST_F(Window, AddressesOfAZeroBasedOneCountFromItsStartAndTypeOneCannotBe) {
  WindowBind one = bind_of(kWindow1Key, kWindow1Key);
  one.access |= kZeroBased;
  EXPECT_EQ(bind(one), Change::kRefused);
  WindowBind two = bind_of(kWindow2Key, kWindow2Key);
  two.access |= kZeroBased;
  ASSERT_EQ(bind(two), Change::kDone);
  ASSERT_EQ(keys.translate_remote(kWindow2Key, kPd, kQpn, kRemoteRead, 4, 28, pointer),
            KeyVerdict::kGood);
  EXPECT_EQ(pointer, buffer.data() + 20);
  EXPECT_EQ(keys.translate_remote(kWindow2Key, kPd, kQpn, kRemoteRead, 4, 29, pointer),
            KeyVerdict::kOutOfRange);
}

// case 52
TEST_F(Window, ARangeOutsideTheRegionIsRefusedAlsoWhenItWrapsAround) {
  both([](WindowBind& b) { b.length = 241; }, Change::kRefused);
  both([](WindowBind& b) { b.length = ~uint64_t{0}; }, Change::kRefused);
  both([](WindowBind& b) { b.address -= 17; }, Change::kRefused);
  both([](WindowBind& b) { b.address = ~uint64_t{0} - 3; }, Change::kRefused);
  both([](WindowBind& b) { b.length = 240; }, Change::kDone);
}

TEST_F(Window, KeepsItsRegionFromBeingRetired) {
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  ASSERT_EQ(bind(bind_of(kWindow2Key, kWindow2Key)), Change::kDone);
  EXPECT_FALSE(keys.retire(kRegionKey.index()));
  EXPECT_EQ(remote(kRegionKey, 0), KeyVerdict::kGood);
  ASSERT_EQ(end(kWindow2Key), Change::kDone);
  EXPECT_FALSE(keys.retire(kRegionKey.index()));
  ASSERT_TRUE(keys.retire(kWindow1Key.index())) << "giving a bound window up unbinds it";
  EXPECT_EQ(remote(kWindow1Key, 16), KeyVerdict::kUnknownKey);
  EXPECT_EQ(keys.close(kWindow1Key.index()), kWindow1Key);
  EXPECT_TRUE(keys.retire(kRegionKey.index()));
}

TEST_F(Window, AFailedBindLeavesTheOldOneValid) {
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  WindowBind bad = bind_of(kWindow1Key, Key(kWindow1Key.value() + 1));
  bad.length = 4096;
  EXPECT_EQ(bind(bad), Change::kRefused);
  EXPECT_EQ(remote(kWindow1Key, 16), KeyVerdict::kGood);
  EXPECT_FALSE(keys.retire(kRegionKey.index()));
}

TEST_F(Window, BindingAgainWaitsForEnginesThatMayUseTheOldRange) {
  const Key next(kWindow1Key.value() + 1);
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  second.begin_turn(false);
  EXPECT_EQ(bind(bind_of(kWindow1Key, next)), Change::kWait);
  EXPECT_EQ(remote(kWindow1Key, 16), KeyVerdict::kUnknownKey) << "dead at once";
  EXPECT_EQ(remote(next, 16), KeyVerdict::kUnknownKey);
  EXPECT_EQ(bind(bind_of(kWindow1Key, next)), Change::kWait);
  second.end_turn();
  EXPECT_EQ(bind(bind_of(kWindow1Key, next)), Change::kDone);
  EXPECT_EQ(remote(next, 16), KeyVerdict::kGood);
}

TEST_F(Window, TypeTwoEndsWithTheQueuePairThatBoundIt) {
  const Key next(kWindow2Key.value() + 1);
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  ASSERT_EQ(bind(bind_of(kWindow2Key, kWindow2Key)), Change::kDone);
  for (const Key key : {kRegionKey, kFastKey, kWindow1Key}) keys.end_binding(key.index(), kQpn);
  keys.end_binding(kWindow2Key.index(), kOtherQpn);
  EXPECT_EQ(remote(kWindow1Key, 16), KeyVerdict::kGood);
  EXPECT_EQ(remote(kWindow2Key, 16), KeyVerdict::kGood);
  keys.end_binding(kWindow2Key.index(), kQpn);
  EXPECT_EQ(remote(kWindow2Key, 16), KeyVerdict::kUnknownKey);
  EXPECT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  // The slot is written again behind a grace period.
  second.begin_turn(false);
  EXPECT_EQ(bind(bind_of(kWindow2Key, next)), Change::kWait);
  second.end_turn();
  EXPECT_EQ(bind(bind_of(kWindow2Key, next)), Change::kDone);
}

}  // namespace
}  // namespace uroce::memory
