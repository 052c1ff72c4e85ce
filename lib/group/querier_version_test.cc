// SPDX-License-Identifier: BSD-3-Clause
// How long an older querier is followed, and what queries teach.
#include "group/querier_version.h"

#include <gtest/gtest.h>

namespace uroce::group {
namespace {

using std::chrono::seconds;

constexpr Time kStart{seconds(1)};

wire::MembershipMessage general(uint8_t version, uint32_t max_response_ms = 10000) {
  wire::MembershipMessage query;
  query.version = version;
  query.max_response_ms = max_response_ms;
  return query;
}

TEST(QuerierVersion, IsTheNewestUntilAnOlderQuerierIsHeard) {
  QuerierVersion querier(3);
  EXPECT_EQ(querier.at(kStart), 3);
  querier.handle_query(kStart, general(3));
  EXPECT_EQ(querier.at(kStart), 3);
  querier.handle_query(kStart, general(2));
  EXPECT_EQ(querier.at(kStart), 2);
}

// RFC 3376 8.12 with the defaults: 2 * 125 s + 10 s.
TEST(QuerierVersion, ReturnsWhenTheOlderQuerierIsSilent) {
  QuerierVersion querier(3);
  querier.handle_query(kStart, general(2));
  EXPECT_EQ(querier.at(kStart + seconds(260) - Duration(1)), 2);
  EXPECT_EQ(querier.at(kStart + seconds(260)), 3);
}

TEST(QuerierVersion, TheOldestOfSeveralCounts) {
  QuerierVersion querier(3);
  querier.handle_query(kStart, general(1));
  querier.handle_query(kStart + seconds(100), general(2));
  EXPECT_EQ(querier.at(kStart + seconds(259)), 1);
  EXPECT_EQ(querier.at(kStart + seconds(261)), 2);
  EXPECT_EQ(querier.at(kStart + seconds(361)), 3);
}

TEST(QuerierVersion, NewQueriesTeachRobustnessAndInterval) {
  QuerierVersion querier(2);
  wire::MembershipMessage query = general(2);
  query.robustness = 3;
  query.query_interval_s = 20;
  querier.handle_query(kStart, query);
  EXPECT_EQ(querier.robustness(), 3);
  querier.handle_query(kStart, general(2));  // says neither
  EXPECT_EQ(querier.robustness(), 3);
  querier.handle_query(kStart, general(1, 4000));
  EXPECT_EQ(querier.at(kStart + seconds(63)), 1);
  EXPECT_EQ(querier.at(kStart + seconds(64)), 2);
}

TEST(QuerierVersion, AQueryForOneGroupDoesNotChangeIt) {
  QuerierVersion querier(3);
  wire::MembershipMessage query = general(2);
  query.group = Gid::from_ipv4(0xEF010203);
  querier.handle_query(kStart, query);
  EXPECT_EQ(querier.at(kStart), 3);
}

// Configured down: newer queriers understand old reports.
TEST(QuerierVersion, NeverExceedsWhatTheHostMaySpeak) {
  QuerierVersion querier(2);
  querier.handle_query(kStart, general(3));
  EXPECT_EQ(querier.at(kStart), 2);
}

}  // namespace
}  // namespace uroce::group
