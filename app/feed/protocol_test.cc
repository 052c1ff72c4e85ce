// SPDX-License-Identifier: BSD-3-Clause
// What is taken from the wire, and what is not.
#include "protocol.h"

#include <gtest/gtest.h>

#include <vector>

namespace uroce::market {
namespace {

template <typename T>
std::vector<uint8_t> bytes_of(const T& message, size_t more = 0) {
  std::vector<uint8_t> bytes(sizeof message + more);
  std::memcpy(bytes.data(), &message, sizeof message);
  return bytes;
}

TEST(Protocol, AMessageIsReadAsWhatItIs) {
  const Order order{header_of(Kind::kOrder), 7, 0, 70, 12345};
  Order read{};
  EXPECT_TRUE(read_as(Kind::kOrder, bytes_of(order), read));
  EXPECT_EQ(read.trigger, 7u);
  EXPECT_EQ(read.sequence, 70u);
  EXPECT_FALSE(read_as(Kind::kLogin, bytes_of(order), read)) << "another kind";
  EXPECT_FALSE(read_as(Kind::kOrder, bytes_of(order, 1), read)) << "another length";
  EXPECT_FALSE(read_as(Kind::kOrder, {}, read));
}

TEST(Protocol, AForeignMagicIsNothingOfOurs) {
  Order order{header_of(Kind::kOrder), 7, 0, 70, 12345};
  order.header.magic ^= 1;
  EXPECT_EQ(kind_of(bytes_of(order)), Kind{});
  EXPECT_EQ(kind_of(std::vector<uint8_t>(7, 0xff)), Kind{}) << "shorter than a header";
}

TEST(Protocol, FeedPacketsAgreeWithTheirLength) {
  FeedHeader read{};
  const FeedHeader two{header_of(Kind::kData, 2), 41};
  EXPECT_TRUE(read_feed(bytes_of(two, 2 * sizeof(Message)), read));
  EXPECT_EQ(read.sequence, 41u);
  EXPECT_EQ(read.header.count, 2u);
  EXPECT_FALSE(read_feed(bytes_of(two, sizeof(Message)), read));
  EXPECT_FALSE(read_feed(bytes_of(two, 2 * sizeof(Message) + 1), read));
  EXPECT_FALSE(read_feed(bytes_of(header_of(Kind::kData, 0)), read)) << "no sequence";

  EXPECT_TRUE(read_feed(bytes_of(FeedHeader{header_of(Kind::kEnd), 42}), read));
  EXPECT_FALSE(read_feed(bytes_of(FeedHeader{header_of(Kind::kEnd), 0}), read));
  EXPECT_FALSE(read_feed(bytes_of(FeedHeader{header_of(Kind::kData, 0), 42}), read));
  EXPECT_FALSE(read_feed(bytes_of(FeedHeader{header_of(Kind::kHeartbeat, 1), 42}), read));
  EXPECT_FALSE(read_feed(bytes_of(FeedHeader{header_of(Kind::kFill), 42}), read));
}

TEST(Protocol, AMessageOfTwoIsNotIntact) {
  const Message one = make_message(5, 1000, 1);
  EXPECT_TRUE(is_intact(one, 5));
  EXPECT_FALSE(is_intact(one, 6)) << "its slot holds another message by now";
  const Message later = make_message(69, 2000, 2);
  for (size_t whole = 8; whole < sizeof one; whole += 8) {
    Message torn = one;
    std::memcpy(&torn, &later, whole);
    EXPECT_FALSE(is_intact(torn, 5)) << whole;
    EXPECT_FALSE(is_intact(torn, 69)) << whole;
  }
}

TEST(Protocol, NumbersEndWhereTheStreamDoes) {
  const auto within = [](uint64_t sequence, uint16_t count) {
    return is_within({header_of(Kind::kData, count), sequence}, 100);
  };
  EXPECT_TRUE(within(1, 20));
  EXPECT_TRUE(within(81, 20));
  EXPECT_TRUE(within(101, 0));
  EXPECT_FALSE(within(82, 20));
  EXPECT_FALSE(within(101, 1));
  EXPECT_FALSE(within(102, 0));
  EXPECT_FALSE(within(UINT64_MAX, 1));
}

}  // namespace
}  // namespace uroce::market
