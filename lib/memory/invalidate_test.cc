// SPDX-License-Identifier: BSD-3-Clause
// Invalidation: which keys, by whom, and who is quicker.
#include "memory/invalidate.h"

#include <thread>

#include "memory/change_fixture.h"

namespace uroce::memory {
namespace {

class Invalidate : public ChangeFixture {
 protected:
  Invalidate() {
    EXPECT_EQ(register_fast(keys, who(), registration(kFastKey)), Change::kDone);
    EXPECT_EQ(bind(bind_of(kWindow2Key, kWindow2Key)), Change::kDone);
  }
};

TEST_F(Invalidate, EndsAFastRegionAndAWindowOfTypeTwo) {
  EXPECT_EQ(end(kFastKey), Change::kDone);
  EXPECT_EQ(remote(kFastKey, 16), KeyVerdict::kUnknownKey);
  EXPECT_EQ(end(kWindow2Key, InvalidatedBy::kPeer), Change::kDone);
  EXPECT_EQ(remote(kWindow2Key, 16), KeyVerdict::kUnknownKey);
}

TEST_F(Invalidate, WhatIsNotValidIsRefused) {
  EXPECT_EQ(end(kFastKey), Change::kDone);
  EXPECT_EQ(end(kFastKey), Change::kRefused);
  EXPECT_EQ(end(Key(kWindow2Key.value() + 1)), Change::kRefused) << "another tag";
  for (const Key key : {Key(0), Key(0x0500), Key(0xFFFFFF00)}) {
    EXPECT_EQ(end(key), Change::kRefused) << key.value();
  }
}

TEST_F(Invalidate, RegisteredRegionsAndWindowsOfTypeOneAreRefused) {
  ASSERT_EQ(bind(bind_of(kWindow1Key, kWindow1Key)), Change::kDone);
  EXPECT_EQ(end(kRegionKey), Change::kRefused);
  EXPECT_EQ(end(kWindow1Key), Change::kRefused);
  EXPECT_EQ(remote(kRegionKey, 16), KeyVerdict::kGood);
  EXPECT_EQ(remote(kWindow1Key, 16), KeyVerdict::kGood);
}

TEST_F(Invalidate, AnotherDomainOrQueuePairMayNot) {
  EXPECT_EQ(invalidate(keys, who(0, kQpn, kPd + 1), kFastKey, InvalidatedBy::kOwner, ticket),
            Change::kRefused);
  EXPECT_EQ(invalidate(keys, who(0, kQpn, kPd + 1), kWindow2Key, InvalidatedBy::kOwner, ticket),
            Change::kRefused);
  EXPECT_EQ(invalidate(keys, who(0, kOtherQpn), kWindow2Key, InvalidatedBy::kPeer, ticket),
            Change::kRefused);
  EXPECT_EQ(invalidate(keys, who(0, kOtherQpn), kFastKey, InvalidatedBy::kPeer, ticket),
            Change::kDone)
      << "a region is the whole domain's";
}

TEST_F(Invalidate, APeerCannotEndARegionThatWasNeverOpenToPeers) {
  ASSERT_EQ(end(kFastKey), Change::kDone);
  FastRegistration local = registration(kFastKey);
  local.access = kLocalWrite;
  ASSERT_EQ(register_fast(keys, who(), local), Change::kDone);
  EXPECT_EQ(end(kFastKey, InvalidatedBy::kPeer), Change::kRefused);
  EXPECT_EQ(end(kFastKey, InvalidatedBy::kOwner), Change::kDone);
}

TEST_F(Invalidate, ARegionWithWindowsBoundToItStays) {
  WindowBind on_fast = bind_of(kWindow1Key, kWindow1Key);
  on_fast.region = kFastKey;
  ASSERT_EQ(bind(on_fast), Change::kDone);
  EXPECT_EQ(end(kFastKey), Change::kRefused);
  EXPECT_EQ(remote(kFastKey, 16), KeyVerdict::kGood);
  on_fast.length = 0;
  ASSERT_EQ(bind(on_fast), Change::kDone);
  EXPECT_EQ(end(kFastKey), Change::kDone);
}

TEST_F(Invalidate, TheTicketLastsAsLongAsAnotherEnginesTurn) {
  second.begin_turn(false);
  ASSERT_EQ(end(kFastKey), Change::kDone);
  EXPECT_FALSE(rounds[0].over(ticket));
  second.end_turn();
  EXPECT_TRUE(rounds[0].over(ticket));
}

// Two engines want the same key: exactly one of them ends it, every time.
TEST_F(Invalidate, OfTwoEnginesExactlyOneSucceeds) {
  constexpr int kRounds = 500;
  std::atomic<int> round{0};
  std::atomic<int> finished{0};
  std::atomic<int> successes{0};
  const auto engine = [&](uint32_t index) {
    for (int i = 1; i <= kRounds; ++i) {
      while (round.load() < i) std::this_thread::yield();
      uint64_t own_ticket = 0;
      const Change change =
          invalidate(keys, who(index), kFastKey, InvalidatedBy::kOwner, own_ticket);
      if (change == Change::kDone) ++successes;
      ++finished;
    }
  };
  std::thread a(engine, 0);
  std::thread b(engine, 1);
  bool registered = true;
  for (int i = 1; i <= kRounds; ++i) {
    round = i;
    while (finished.load() < 2 * i) std::this_thread::yield();
    registered = registered && register_fast(keys, who(), registration(kFastKey)) == Change::kDone;
  }
  a.join();
  b.join();
  EXPECT_TRUE(registered);
  EXPECT_EQ(successes.load(), kRounds);
}

}  // namespace
}  // namespace uroce::memory
