// SPDX-License-Identifier: BSD-3-Clause
// IGMP and MLD records and time codes.
#include "wire/membership.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

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

}  // namespace
}  // namespace uroce::wire
