// SPDX-License-Identifier: BSD-3-Clause
// Ping: one answer with the same data, within bounds, to those who may have one.
#include "neigh/echo.h"

#include <gtest/gtest.h>

#include "neigh/neigh_test.h"

namespace uroce::neigh {
namespace {

using wire::Drop;
using wire::IcmpKind;
using wire::IcmpMessage;

class EchoTest : public testing::Test {
 protected:
  EchoTest() { hops_.set(kOurAddresses, {}, {}); }
  Drop give(Bytes frame, Time now = kStart) {
    const Classified c(std::move(frame));
    IcmpMessage message;
    EXPECT_EQ(wire::parse_icmp(c.bytes, c.info, c.options, message), Drop::kNone);
    return echo_.handle_request(now, message);
  }
  Bytes reply(size_t capacity = 2048) {
    Bytes room(capacity);
    room.resize(echo_.build_reply(room));
    return room;
  }

  NextHop hops_;
  HostStackCounters counters_;
  Echo echo_{{kOurMac, false, 0}, hops_, counters_};
};

TEST_F(EchoTest, AnswersWithTheSameDataInBothFamilies) {
  for (const Gid& own : {kOurIpv4, kOurIpv6}) {
    EXPECT_EQ(give(ping(own, 56, 9)), Drop::kNone);
    ASSERT_TRUE(echo_.has_reply());
    const Classified c(reply());
    EXPECT_FALSE(echo_.has_reply());
    EXPECT_EQ(wire::load_mac(c.bytes.data()), kPeerMac);
    IcmpMessage answer;
    ASSERT_EQ(wire::parse_icmp(c.bytes, c.info, c.options, answer), Drop::kNone);
    EXPECT_EQ(answer.kind, IcmpKind::kEchoReply);
    EXPECT_EQ(answer.echo_id, 77);
    EXPECT_EQ(answer.echo_sequence, 9);
    EXPECT_EQ(answer.source, own);
    EXPECT_EQ(answer.destination, own.is_ipv4() ? kPeerIpv4 : kPeerIpv6);
    ASSERT_EQ(answer.data.size(), 56u);
    for (size_t i = 0; i < 56; ++i) EXPECT_EQ(answer.data[i], i);
  }
  EXPECT_EQ(counters_.echo_answered.value(), 2u);
}

TEST_F(EchoTest, FullSizePingIsAnsweredAndALargerOneRefused) {
  EXPECT_EQ(give(ping(kOurIpv4, 1472)), Drop::kNone);
  ASSERT_TRUE(echo_.has_reply());
  EXPECT_EQ(reply().size(), 14u + 20 + 8 + 1472);
  EXPECT_EQ(give(ping(kOurIpv4, 1473)), Drop::kNone);
  EXPECT_FALSE(echo_.has_reply());
  EXPECT_EQ(counters_.echo_refused.value(), 1u);
}

TEST_F(EchoTest, PingOfOthersAndOfGroupsIsNotAnswered) {
  EXPECT_EQ(give(ping(gid("198.18.0.9"), 8)), Drop::kNotForUs);
  EXPECT_EQ(give(ping(gid("224.0.0.1"), 8)), Drop::kNotForUs);
  EXPECT_EQ(give(ping(gid("198.18.0.255"), 8)), Drop::kNotForUs);
  EXPECT_EQ(give(ping(gid("ff02::1"), 8)), Drop::kNotForUs);
  EXPECT_FALSE(echo_.has_reply());
}

TEST_F(EchoTest, PingFromNoUnicastAddressIsRefused) {
  IcmpMessage message;
  message.kind = IcmpKind::kEchoRequest;
  for (const char* from : {"224.0.0.1", "0.0.0.0", "198.18.0.2"}) {
    EXPECT_EQ(give(icmp_frame(kOurIpv4, message, gid(from))), Drop::kNone);
    EXPECT_FALSE(echo_.has_reply()) << from;
  }
  EXPECT_EQ(give(icmp_frame(kOurIpv6, message, {}, Gid{})), Drop::kNone);
  EXPECT_FALSE(echo_.has_reply());
  EXPECT_EQ(counters_.echo_refused.value(), 4u);
}

TEST_F(EchoTest, FloodIsAnsweredAtABoundedRate) {
  uint32_t answers = 0;
  for (int us = 0; us < 1000000; us += 20) {
    give(ping(kOurIpv4, 8), kStart + std::chrono::microseconds(us));
    for (; echo_.has_reply(); ++answers) reply();
  }
  EXPECT_GE(answers, Echo::kPerSecond - 1);
  EXPECT_LE(answers, Echo::kPerSecond + Echo::kBurst);
}

TEST_F(EchoTest, QueueIsBoundedWhileNothingCanBeSent) {
  for (int i = 0; i < 16; ++i) give(ping(kOurIpv4, 8));
  int replies = 0;
  for (; echo_.has_reply(); ++replies) reply();
  EXPECT_EQ(replies, 8);
  EXPECT_EQ(counters_.echo_refused.value(), 8u);
}

TEST_F(EchoTest, ReplyThatDoesNotFitItsRoomIsGivenUp) {
  give(ping(kOurIpv4, 500));
  EXPECT_TRUE(reply(256).empty());
  EXPECT_FALSE(echo_.has_reply());
  EXPECT_EQ(counters_.echo_refused.value(), 1u);
  EXPECT_EQ(counters_.echo_answered.value(), 0u);
}

}  // namespace
}  // namespace uroce::neigh
