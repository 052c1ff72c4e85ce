// SPDX-License-Identifier: BSD-3-Clause
// IGMP and MLD: records and time codes; what is built parses back, damage is refused by name.
#include "wire/membership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "wire/igmp.h"
#include "wire/mld.h"
#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::any_vlan;
using testing::Random;

TEST(Membership, TimeCodesFollowTheRfcs) {
  EXPECT_EQ(decode_time8(0), 0u);
  EXPECT_EQ(decode_time8(127), 127u);
  EXPECT_EQ(decode_time8(0x80), 128u);
  EXPECT_EQ(decode_time8(0x8F), 31u << 3);
  EXPECT_EQ(decode_time8(0xFF), 31u << 10);
  EXPECT_EQ(decode_time16(32767), 32767u);
  EXPECT_EQ(decode_time16(0x8000), 0x1000u << 3);
  EXPECT_EQ(decode_time16(0xFFFF), 0x1FFFu << 10);
}

TEST(Membership, EncodedTimesComeBackRoundedDownByLessThanOneStep) {
  for (uint32_t value = 0; value < 40000; ++value) {
    const uint32_t back = decode_time8(encode_time8(value));
    EXPECT_LE(back, value);
    if (value < 31744) {
      EXPECT_GE(back + back / 16 + 1, value);
    }
  }
  for (uint32_t code = 0; code < 256; ++code) {
    EXPECT_EQ(encode_time8(decode_time8(static_cast<uint8_t>(code))), code);
  }
  for (uint32_t code = 0; code < 65536; ++code) {
    EXPECT_EQ(encode_time16(decode_time16(static_cast<uint16_t>(code))), code);
  }
}

TEST(Membership, RecordsWithSourcesComeBackOneByOne) {
  Random random(20);
  for (const bool ipv6 : {false, true}) {
    const size_t address = ipv6 ? 16 : 4;
    const std::vector<uint8_t> sources = random.bytes(3 * address);
    const GroupRecord first{RecordType::kChangeToExclude, ipv6 ? random.ipv6() : random.ipv4(), {}};
    const GroupRecord second{RecordType::kAllowNewSources, ipv6 ? random.ipv6() : random.ipv4(),
                             sources};
    std::vector<uint8_t> bytes(record_bytes(first) + record_bytes(second));
    store_record(bytes.data() + store_record(bytes.data(), first), second);
    ASSERT_TRUE(records_whole(bytes, ipv6, 2));
    EXPECT_FALSE(records_whole(bytes, ipv6, 3));
    std::span<const uint8_t> rest = bytes;
    GroupRecord out;
    ASSERT_TRUE(next_record(rest, ipv6, out));
    EXPECT_EQ(out.type, first.type);
    EXPECT_EQ(out.group, first.group);
    EXPECT_TRUE(out.sources.empty());
    ASSERT_TRUE(next_record(rest, ipv6, out));
    EXPECT_EQ(out.type, second.type);
    EXPECT_EQ(out.group, second.group);
    EXPECT_TRUE(std::equal(sources.begin(), sources.end(), out.sources.begin(), out.sources.end()));
    EXPECT_FALSE(next_record(rest, ipv6, out));
    for (size_t n = 0; n < bytes.size(); ++n) {
      EXPECT_FALSE(records_whole(std::span(bytes).first(n), ipv6, 2)) << n;
    }
  }
}

// Each protocol as a type: its versions, addresses and names of refusals.
struct Igmp {
  static constexpr bool kIpv6 = false;
  static constexpr uint8_t kRecordVersion = 3;
  static constexpr FrameKind kFrameKind = FrameKind::kIgmp;
  static constexpr Drop kBadChecksum = Drop::kIgmpChecksum;
  static constexpr Drop kMalformed = Drop::kIgmpMalformed;
  static constexpr auto parse = parse_igmp;
  static uint32_t build(std::span<uint8_t> room, const LinkSource& link, const Gid& source,
                        const MembershipMessage& message, std::span<const GroupRecord> records) {
    return build_igmp(room, link, source.ipv4(), message, records);
  }
  static Gid source(Random& random) { return random.ipv4(); }
  static Gid group(Random& random) { return random.ipv4_group(); }
  static uint32_t response_ms(Random& random, uint8_t version) {
    return version == 1 ? 10000 : 100 * (1 + random.below(127));
  }
};

struct Mld {
  static constexpr bool kIpv6 = true;
  static constexpr uint8_t kRecordVersion = 2;
  static constexpr FrameKind kFrameKind = FrameKind::kMld;
  static constexpr Drop kBadChecksum = Drop::kIcmpChecksum;
  static constexpr Drop kMalformed = Drop::kMldMalformed;
  static constexpr auto parse = parse_mld;
  static uint32_t build(std::span<uint8_t> room, const LinkSource& link, const Gid& source,
                        const MembershipMessage& message, std::span<const GroupRecord> records) {
    return build_mld(room, link, source, message, records);
  }
  static Gid source(Random& random) { return random.link_local(); }
  static Gid group(Random& random) { return random.ipv6_group(); }
  static uint32_t response_ms(Random& random, uint8_t) { return random.below(32768); }
};

template <typename Protocol>
class MembershipMessages : public ::testing::Test {
 protected:
  static Drop parse(std::span<const uint8_t> frame, MembershipMessage& out) {
    L3Info info;
    if (classify(frame, any_vlan(), info) != Protocol::kFrameKind) return info.not_roce;
    return Protocol::parse(frame, info, any_vlan(), out);
  }
  MembershipMessage random_message(std::span<const uint8_t> sources) {
    constexpr uint8_t kNewest = Protocol::kRecordVersion;
    MembershipMessage message;
    message.kind = static_cast<MembershipKind>(random_.below(4));
    message.version = kNewest - 1;
    if (message.kind == MembershipKind::kQuery) {
      message.version = static_cast<uint8_t>(1 + random_.below(kNewest));
      if (random_.coin()) message.group = Protocol::group(random_);
      message.max_response_ms = Protocol::response_ms(random_, message.version);
      if (message.version != kNewest) return message;
      message.suppress_router = random_.coin();
      message.robustness = static_cast<uint8_t>(random_.below(8));
      message.query_interval_s = random_.below(128);
      message.sources = sources;
    } else if (message.kind == MembershipKind::kRecordReport) {
      message.version = kNewest;
    } else {
      message.group = Protocol::group(random_);
      if (message.kind == MembershipKind::kReport && random_.coin()) message.version = 1;
    }
    return message;
  }
  // Builds a frame whose message ends it, and gives the message.
  std::span<uint8_t> build(const MembershipMessage& message, std::span<const GroupRecord> records,
                           uint32_t message_bytes) {
    length_ = Protocol::build(room_, {}, Protocol::source(random_), message, records);
    return {room_.data() + length_ - message_bytes, message_bytes};
  }
  // The verdict on the frame after its message was changed: with a right checksum again.
  Drop judge(std::span<uint8_t> message) {
    store_be16(message.data() + 2, 0);
    const auto bytes = static_cast<uint32_t>(message.size());
    const uint64_t pseudo =
        Protocol::kIpv6 ? pseudo_header_sum(room_.data() + kL3 + 8, 32, kProtocolIcmpv6, bytes) : 0;
    store_checksum(message.data() + 2, checksum_add(pseudo, message.data(), bytes));
    MembershipMessage back;
    return parse({room_.data(), length_}, back);
  }

  static constexpr uint32_t kL3 = kEthernetBytes;
  static constexpr uint32_t kAddressBytes = Protocol::kIpv6 ? 16 : 4;
  Random random_{21};
  std::array<uint8_t, 512> room_;
  uint32_t length_ = 0;
};

using BothProtocols = ::testing::Types<Igmp, Mld>;
TYPED_TEST_SUITE(MembershipMessages, BothProtocols, );

TYPED_TEST(MembershipMessages, WhatIsBuiltParsesBack) {
  Random& random = this->random_;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<uint8_t> sources = random.bytes(this->kAddressBytes * random.below(4));
    const MembershipMessage message = this->random_message(sources);
    const GroupRecord records[] = {{RecordType::kChangeToExclude, TypeParam::group(random), {}},
                                   {RecordType::kModeIsInclude, TypeParam::group(random), sources}};
    const Gid source = TypeParam::source(random);
    const LinkSource link{random.mac(), random.coin(), static_cast<uint16_t>(random.below(4096))};
    uint8_t* room = this->room_.data();
    std::memset(room, 0xA5, this->room_.size());  // what lay there before must not show
    const uint32_t length = TypeParam::build(this->room_, link, source, message, records);
    ASSERT_GT(length, 0u);
    MembershipMessage back;
    ASSERT_EQ(this->parse({room, length}, back), Drop::kNone);
    EXPECT_EQ(back.kind, message.kind);
    EXPECT_EQ(back.version, message.version);
    EXPECT_EQ(back.source, source);
    EXPECT_TRUE(back.destination.is_multicast());
    EXPECT_EQ(multicast_mac(back.destination), load_mac(room));
    EXPECT_EQ(back.group, message.group);
    EXPECT_EQ(back.max_response_ms, message.max_response_ms);
    EXPECT_EQ(back.suppress_router, message.suppress_router);
    EXPECT_EQ(back.robustness, message.robustness);
    EXPECT_EQ(back.query_interval_s, message.query_interval_s);
    EXPECT_TRUE(std::equal(back.sources.begin(), back.sources.end(), message.sources.begin(),
                           message.sources.end()));
    EXPECT_EQ(back.record_count, message.kind == MembershipKind::kRecordReport ? 2 : 0);
    room[length - 1] ^= 1;
    EXPECT_EQ(this->parse({room, length}, back), TypeParam::kBadChecksum);
  }
}

TYPED_TEST(MembershipMessages, ReportsThatClaimMoreThanTheyHoldAreMalformed) {
  MembershipMessage report;
  report.kind = MembershipKind::kRecordReport;
  report.version = TypeParam::kRecordVersion;
  const GroupRecord record{RecordType::kChangeToExclude, TypeParam::group(this->random_), {}};
  const auto message = this->build(report, {&record, 1}, 12 + this->kAddressBytes);
  ASSERT_EQ(this->judge(message), Drop::kNone);
  store_be16(message.data() + 6, 2);  // two records claimed, one there
  EXPECT_EQ(this->judge(message), TypeParam::kMalformed);
  store_be16(message.data() + 6, 1);
  store_be16(message.data() + 10, 1);  // one source claimed, none there
  EXPECT_EQ(this->judge(message), TypeParam::kMalformed);
}

TYPED_TEST(MembershipMessages, QueriesThatClaimMoreThanTheyHoldAreMalformed) {
  const std::vector<uint8_t> source(this->kAddressBytes, 9);
  MembershipMessage query;
  query.version = TypeParam::kRecordVersion;
  query.group = TypeParam::group(this->random_);
  query.sources = source;
  const uint32_t fixed = TypeParam::kIpv6 ? 24 : 8;
  const auto message = this->build(query, {}, fixed + 4 + this->kAddressBytes);
  ASSERT_EQ(this->judge(message), Drop::kNone);
  store_be16(message.data() + fixed + 2, 2);  // two sources claimed, one there
  EXPECT_EQ(this->judge(message), TypeParam::kMalformed);
}

TYPED_TEST(MembershipMessages, ARoomTooSmallIsSaid) {
  const Gid source = TypeParam::source(this->random_);
  const uint32_t needed = TypeParam::build(this->room_, {}, source, {}, {}) + kVlanTagBytes;
  EXPECT_EQ(TypeParam::build(std::span(this->room_).first(needed - 1), {}, source, {}, {}), 0u);
  EXPECT_NE(TypeParam::build(std::span(this->room_).first(needed), {}, source, {}, {}), 0u);
}

}  // namespace
}  // namespace uroce::wire
