// SPDX-License-Identifier: BSD-3-Clause
// The life of a neighbour: asked for, found, confirmed again, moved, lost.
#include "neigh/neighbor_table.h"

#include <gtest/gtest.h>

#include "neigh/neigh_test.h"

namespace uroce::neigh {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class NeighborTableTest : public testing::Test {
 protected:
  Resolution resolve(Time now, const Gid& address = kPeerIpv4) {
    return table_.resolve(now, address, mac_);
  }
  // Every solicitation up to `until`, with its time.
  std::vector<std::pair<Time, Solicitation>> run(Time from, Time until) {
    std::vector<std::pair<Time, Solicitation>> asked;
    for (Time now = from; now <= until; now = std::max(now, table_.poll_timeout())) {
      table_.handle_timeout(now);
      Solicitation s;
      while (table_.poll_solicitation(s)) asked.push_back({now, s});
      if (table_.poll_timeout() == kNever) break;
    }
    return asked;
  }
  void answer(Time now, const MacAddress& mac = kPeerMac) {
    table_.handle_news(now, {kPeerIpv4, mac, true, true});
  }

  NeighborTable table_{4, 1};
  MacAddress mac_{};
};

TEST_F(NeighborTableTest, UnknownNeighbourIsAskedForAndFound) {
  EXPECT_EQ(resolve(kStart), Resolution::kPending);
  const auto asked = run(kStart, kStart + milliseconds(500));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].second.target, kPeerIpv4);
  EXPECT_FALSE(asked[0].second.unicast);
  answer(kStart + milliseconds(600));
  EXPECT_EQ(resolve(kStart + milliseconds(600)), Resolution::kResolved);
  EXPECT_EQ(mac_, kPeerMac);
  EXPECT_EQ(table_.poll_timeout(), kNever);
}

// case 59: nobody answers: three questions, one second apart, and the failure after three.
TEST_F(NeighborTableTest, SilentNeighbourFailsAfterThreeSeconds_Case59) {
  EXPECT_EQ(resolve(kStart), Resolution::kPending);
  const auto asked = run(kStart, kStart + seconds(10));
  ASSERT_EQ(asked.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(asked[static_cast<size_t>(i)].first, kStart + seconds(i));
  }
  EXPECT_EQ(table_.state_of(kStart + seconds(3), kPeerIpv4), NeighborState::kFailed);
  EXPECT_EQ(resolve(kStart + seconds(3)), Resolution::kFailed);
  EXPECT_EQ(table_.failed(), 1u);
}

TEST_F(NeighborTableTest, AskingManyTimesSendsNoMoreQuestions) {
  for (int ms = 0; ms < 900; ms += 10) {
    EXPECT_EQ(resolve(kStart + milliseconds(ms)), Resolution::kPending);
  }
  EXPECT_EQ(run(kStart, kStart + milliseconds(900)).size(), 1u);
}

TEST_F(NeighborTableTest, ALinkThatComesUpIsAskedAtOnceAndAsOftenAsEver) {
  resolve(kStart);
  EXPECT_EQ(run(kStart, kStart + milliseconds(1500)).size(), 2u);
  table_.link_up(kStart + milliseconds(1500));
  const auto asked = run(kStart + milliseconds(1500), kStart + seconds(20));
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].first, kStart + milliseconds(1500));
  EXPECT_EQ(asked[0].second.target, kPeerIpv4);
  EXPECT_EQ(table_.failed(), 1u);
}

TEST_F(NeighborTableTest, FailureIsRememberedForASecondAndThenTriedAfresh) {
  resolve(kStart);
  run(kStart, kStart + seconds(3));
  EXPECT_EQ(resolve(kStart + seconds(3) + milliseconds(999)), Resolution::kFailed);
  EXPECT_EQ(table_.poll_timeout(), kNever);
  EXPECT_EQ(resolve(kStart + seconds(4)), Resolution::kPending);
  EXPECT_EQ(run(kStart + seconds(4), kStart + seconds(20)).size(), 3u);
}

TEST_F(NeighborTableTest, LateAnswerMendsAFailure) {
  resolve(kStart);
  run(kStart, kStart + seconds(3));
  answer(kStart + seconds(3));
  EXPECT_EQ(resolve(kStart + seconds(3)), Resolution::kResolved);
}

TEST_F(NeighborTableTest, StaleNeighbourStaysInUseWhileItIsAskedAgain) {
  resolve(kStart);
  answer(kStart);
  const Time later = kStart + NeighborTable::kReachable;
  EXPECT_EQ(table_.state_of(later - Duration(1), kPeerIpv4), NeighborState::kReachable);
  EXPECT_EQ(table_.state_of(later, kPeerIpv4), NeighborState::kStale);
  EXPECT_EQ(table_.poll_timeout(), kNever);  // unused: nobody is asked
  EXPECT_EQ(resolve(later), Resolution::kResolved);
  auto asked = run(later, later + milliseconds(10));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].second.unicast);
  EXPECT_EQ(asked[0].second.mac, kPeerMac);
  answer(later + milliseconds(10));
  EXPECT_EQ(table_.state_of(later + seconds(1), kPeerIpv4), NeighborState::kReachable);
  EXPECT_EQ(table_.poll_timeout(), kNever);
}

TEST_F(NeighborTableTest, BusyUseOfAStaleNeighbourAsksNoFaster) {
  resolve(kStart);
  answer(kStart);
  const Time later = kStart + NeighborTable::kReachable;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(resolve(later), Resolution::kResolved);
  const auto asked = run(later, later + milliseconds(1500));
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[1].first, later + seconds(1));
}

TEST_F(NeighborTableTest, StaleNeighbourThatIsGoneIsSearchedOnceMoreThenFails) {
  resolve(kStart);
  answer(kStart);
  const Time later = kStart + NeighborTable::kReachable;
  resolve(later);
  const auto asked = run(later, later + seconds(10));
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_TRUE(asked[1].second.unicast);
  EXPECT_FALSE(asked[2].second.unicast);  // it may have another MAC address now
  EXPECT_EQ(resolve(later + seconds(3)), Resolution::kFailed);
}

// A router or a failover moves an address: what is heard replaces the MAC address at once.
TEST_F(NeighborTableTest, MovedNeighbourIsFollowed) {
  resolve(kStart);
  answer(kStart);
  table_.handle_news(kStart + seconds(1), {kPeerIpv4, kThirdMac, false, true});
  EXPECT_EQ(resolve(kStart + seconds(1)), Resolution::kResolved);
  EXPECT_EQ(mac_, kThirdMac);
  EXPECT_EQ(table_.mac_changes(), 1u);
  EXPECT_EQ(table_.state_of(kStart + seconds(1), kPeerIpv4), NeighborState::kStale);
}

TEST_F(NeighborTableTest, SameNewsIsNoProofOfReachability) {
  resolve(kStart);
  answer(kStart);
  const Time later = kStart + NeighborTable::kReachable;
  table_.handle_news(later, {kPeerIpv4, kPeerMac, false, true});
  EXPECT_EQ(table_.state_of(later, kPeerIpv4), NeighborState::kStale);
  EXPECT_EQ(table_.mac_changes(), 0u);
}

// RFC 4861 7.2.5: without the override flag a known MAC address stays, but is doubted.
TEST_F(NeighborTableTest, NewsThatMayNotReplaceOnlyRaisesDoubt) {
  resolve(kStart);
  answer(kStart);
  table_.handle_news(kStart, {kPeerIpv4, kThirdMac, true, false});
  EXPECT_EQ(table_.state_of(kStart, kPeerIpv4), NeighborState::kStale);
  EXPECT_EQ(resolve(kStart), Resolution::kResolved);
  EXPECT_EQ(mac_, kPeerMac);
}

TEST_F(NeighborTableTest, NewsFindsANeighbourThatIsAskedFor) {
  resolve(kStart);
  table_.handle_news(kStart, {kPeerIpv4, kPeerMac, false, true});
  EXPECT_EQ(resolve(kStart), Resolution::kResolved);
  EXPECT_EQ(table_.state_of(kStart, kPeerIpv4), NeighborState::kStale);
}

TEST_F(NeighborTableTest, StrangersAddNoEntries) {
  for (uint32_t i = 0; i < 100; ++i) {
    table_.handle_news(kStart, {Gid::from_ipv4(0x0A000000 + i), kThirdMac, true, true});
  }
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(NeighborTableTest, MacAddressesThatNobodyHasAreNotBelieved) {
  resolve(kStart);
  answer(kStart, MacAddress{});
  answer(kStart, wire::kBroadcastMac);
  EXPECT_EQ(resolve(kStart), Resolution::kPending);
}

TEST_F(NeighborTableTest, FullTableGivesUpTheEntryUsedLongestAgo) {
  for (uint32_t i = 0; i < 4; ++i) {
    const Gid address = Gid::from_ipv4(0x0A000000 + i);
    resolve(kStart + seconds(i), address);
    table_.handle_news(kStart + seconds(i), {address, kPeerMac, true, true});
  }
  resolve(kStart + seconds(5), Gid::from_ipv4(0x0A000000));  // now 10.0.0.1 is the oldest
  EXPECT_EQ(resolve(kStart + seconds(6)), Resolution::kPending);
  EXPECT_EQ(table_.size(), 4u);
  EXPECT_EQ(table_.state_of(kStart + seconds(6), Gid::from_ipv4(0x0A000001)), NeighborState::kFree);
  EXPECT_EQ(table_.state_of(kStart + seconds(6), Gid::from_ipv4(0x0A000000)),
            NeighborState::kReachable);
}

TEST_F(NeighborTableTest, EntryThatIsBeingAskedForIsNotGivenUp) {
  for (uint32_t i = 0; i < 4; ++i) resolve(kStart, Gid::from_ipv4(0x0A000000 + i));
  EXPECT_EQ(resolve(kStart), Resolution::kFailed);
  EXPECT_EQ(table_.table_full(), 1u);
  run(kStart, kStart + seconds(3));
  EXPECT_EQ(resolve(kStart + seconds(3)), Resolution::kPending);
}

// Questions that found no transmit slot for a while are asked once, not many times.
TEST_F(NeighborTableTest, BackPressureDoesNotPileUpQuestions) {
  resolve(kStart);
  table_.handle_timeout(kStart + seconds(1));
  table_.handle_timeout(kStart + seconds(2));
  Solicitation s;
  EXPECT_TRUE(table_.poll_solicitation(s));
  EXPECT_FALSE(table_.poll_solicitation(s));
}

}  // namespace
}  // namespace uroce::neigh
