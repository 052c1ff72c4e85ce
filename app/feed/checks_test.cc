// SPDX-License-Identifier: BSD-3-Clause
// What the program judges itself by: each fault of a run is said, and only then.
#include "checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace uroce::market {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Messages 11 … 20 are the trader's; 12, 15 and 18 are triggers 4, 5 and 6.
class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() { ledger_.start({header_of(Kind::kStart), 11, 20, 6, 0}); }

  static Message message(uint64_t sequence) {
    const auto trigger = static_cast<uint32_t>(sequence / 3);
    return make_message(sequence, 1000 + sequence, sequence % 3 == 0 ? trigger : 0);
  }
  void trade(const Message& message) {
    if (message.trigger == 0) return;
    EXPECT_TRUE(ledger_.ordered(message.trigger));
    EXPECT_TRUE(ledger_.filled(message.trigger));
  }
  void deliver(uint64_t first, uint64_t last) {
    for (uint64_t sequence = first; sequence <= last; ++sequence) {
      ledger_.delivered(message(sequence), sequence);
      trade(message(sequence));
    }
  }

  Ledger ledger_;
};

TEST_F(LedgerTest, EveryMessageOnceIsACompleteStream) {
  deliver(11, 19);
  EXPECT_FALSE(ledger_.complete());
  ledger_.recovered(message(20));
  EXPECT_TRUE(ledger_.complete());
  EXPECT_THAT(ledger_.failures(true), IsEmpty());
  EXPECT_EQ(ledger_.totals().delivered, 9u);
  EXPECT_EQ(ledger_.totals().recovered, 1u);
  EXPECT_EQ(ledger_.totals().orders, 3u);
}

TEST_F(LedgerTest, ALostMessageIsAFailureOnlyWithRecovery) {
  deliver(11, 18);
  ledger_.lost(19, 2);
  EXPECT_TRUE(ledger_.complete());
  EXPECT_THAT(ledger_.failures(false), IsEmpty());
  EXPECT_THAT(ledger_.failures(true), ElementsAre("messages lost in spite of recovery: 2, not 0"));
}

TEST_F(LedgerTest, AMissingMessageIsSaid) {
  deliver(11, 19);
  EXPECT_THAT(ledger_.failures(true),
              ElementsAre("messages delivered, recovered and lost: 9, not 10"));
}

TEST_F(LedgerTest, AMessageThatCameTwiceIsSaidAndCountsOnce) {
  deliver(11, 20);
  ledger_.delivered(message(13), 13);
  ledger_.recovered(message(14));
  ledger_.lost(16, 1);
  EXPECT_EQ(ledger_.totals().delivered, 10u);
  EXPECT_THAT(ledger_.failures(true),
              ElementsAre("messages that came twice or are not of the stream: 3, not 0"));
}

TEST_F(LedgerTest, AMessageOutsideTheStreamIsSaid) {
  deliver(11, 20);
  ledger_.delivered(message(10), 10);
  ledger_.lost(21, 1);
  EXPECT_THAT(ledger_.failures(true),
              ElementsAre("messages that came twice or are not of the stream: 2, not 0"));
}

TEST_F(LedgerTest, AFlippedBitIsSaid) {
  deliver(11, 19);
  Message broken = message(20);
  broken.payload[1] ^= 1;
  ledger_.delivered(broken, 20);
  EXPECT_THAT(ledger_.failures(true),
              ElementsAre("messages that are not as they were sent: 1, not 0"));
}

TEST_F(LedgerTest, ATriggerWithoutAnOrderIsSaid) {
  deliver(11, 17);
  ledger_.delivered(message(18), 18);
  deliver(19, 20);
  EXPECT_THAT(ledger_.failures(true), ElementsAre("orders, one for each trigger seen: 2, not 3"));
}

TEST_F(LedgerTest, AnOrderWithoutAFillIsSaid) {
  deliver(11, 17);
  ledger_.delivered(message(18), 18);
  EXPECT_TRUE(ledger_.ordered(6));
  deliver(19, 20);
  EXPECT_FALSE(ledger_.all_filled());
  EXPECT_THAT(ledger_.failures(true), ElementsAre("fills, one for each order: 2, not 3"));
}

TEST_F(LedgerTest, SecondOrdersAndFillsOutOfNowhereAreRefused) {
  deliver(11, 20);
  EXPECT_FALSE(ledger_.ordered(4));
  EXPECT_FALSE(ledger_.ordered(7));
  EXPECT_FALSE(ledger_.filled(5));
  EXPECT_FALSE(ledger_.filled(1));
  EXPECT_FALSE(ledger_.filled(0));
  EXPECT_THAT(ledger_.failures(true),
              ElementsAre("second orders, and fills without an order: 5, not 0"));
}

TEST(CheckSides, EachSideBringsEachMessageOrHasAGap) {
  uroce_feed_statistics statistics{};
  statistics.side[UROCE_FEED_A].wins = 7;
  statistics.side[UROCE_FEED_A].losses = 1;
  statistics.side[UROCE_FEED_A].gaps = 2;
  statistics.side[UROCE_FEED_B].wins = 2;
  statistics.side[UROCE_FEED_B].losses = 4;
  statistics.side[UROCE_FEED_B].overdue = 1;
  statistics.side[UROCE_FEED_B].gaps = 3;
  statistics.delivered = 9;
  statistics.lost = 1;
  EXPECT_THAT(check_sides(statistics, 10), IsEmpty());

  statistics.side[UROCE_FEED_B].gaps = 2;
  statistics.lost_unsaid = 1;
  EXPECT_THAT(check_sides(statistics, 10),
              ElementsAre("wins, losses, overdue and gaps of side B: 9, not 10",
                          "lost messages without room for their range: 1, not 0"));
  EXPECT_EQ(check_sides(statistics, 11).size(), 4u);
}

TEST(Audit, TotalsThatAreWhatTheExchangeCounted) {
  const Totals totals{header_of(Kind::kTotals), 80, 20, 0, 10, 10};
  EXPECT_THAT(audit(totals, {100, 10, 10, 10, 0}), IsEmpty());
}

TEST(Audit, EveryDifferenceIsSaid) {
  const Totals totals{header_of(Kind::kTotals), 80, 19, 0, 11, 9};
  EXPECT_THAT(
      audit(totals, {100, 12, 10, 8, 1}),
      ElementsAre("messages that it accounts for: 99, not 100", "orders that it sent: 11, not 10",
                  "fills that it got: 9, not 8", "fills sent to it: 8, not 10",
                  "orders refused: 1, not 0", "orders that came from it: 10, not 12"));
}

TEST(Audit, WhoLostMessagesMayHaveMissedTriggersButNotInventedThem) {
  const Totals totals{header_of(Kind::kTotals), 80, 0, 20, 9, 9};
  EXPECT_THAT(audit(totals, {100, 10, 9, 9, 0}), IsEmpty());
  EXPECT_THAT(audit(totals, {100, 8, 9, 9, 0}),
              ElementsAre("more orders than triggers came from it"));
}

}  // namespace
}  // namespace uroce::market
