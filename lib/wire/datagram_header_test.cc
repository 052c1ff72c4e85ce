// SPDX-License-Identifier: BSD-3-Clause
// Tests of the header before a received datagram: its version, and what is read from it.
#include "wire/datagram_header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::Random;

std::vector<uint8_t> stored(const IpFields& fields, uint8_t before) {
  std::vector<uint8_t> area(kIpv6Bytes, before);
  uint8_t* const at = area.data() + kIpv6Bytes - ip_header_bytes(fields);
  store_ip(at, fields, 100);
  return area;
}

void expect_the_same(const IpFields& read, const IpFields& written) {
  EXPECT_EQ(read.source, written.source);
  EXPECT_EQ(read.destination, written.destination);
  EXPECT_EQ(read.protocol, written.protocol);
  EXPECT_EQ(read.traffic_class, written.traffic_class);
  EXPECT_EQ(read.hop_limit, written.hop_limit);
  EXPECT_EQ(read.flow_label, written.flow_label);
}

TEST(DatagramHeader, IsReadAsItWasWritten) {
  Random random(27);
  for (int i = 0; i < 200; ++i) {
    IpFields fields;
    fields.traffic_class = static_cast<uint8_t>(random.below(256));
    fields.hop_limit = static_cast<uint8_t>(random.below(256));
    fields.source = random.ipv4();
    fields.destination = random.ipv4();
    // Before an IPv4 header: nothing, or what could begin an IPv6 header.
    const auto four = stored(fields, i % 2 == 0 ? 0x00 : 0x60);
    ASSERT_EQ(datagram_header_version(four.data()), 4);
    expect_the_same(load_datagram_header(four.data(), 4), fields);

    fields.flow_label = static_cast<uint32_t>(random.below(1 << 20));
    fields.source.bytes[0] = fields.destination.bytes[0] = 0xfd;
    const auto six = stored(fields, 0);
    ASSERT_EQ(datagram_header_version(six.data()), 6);
    expect_the_same(load_datagram_header(six.data(), 6), fields);
  }
}

TEST(DatagramHeader, AWrongChecksumMakesAnIpv4HeaderPartOfAnIpv6Header) {
  IpFields fields;
  fields.source = Gid::from_ipv4(0x0A000001);
  fields.destination = Gid::from_ipv4(0x0A000002);
  auto area = stored(fields, 0x60);
  for (size_t at = 21; at < area.size(); ++at) {
    area[at] ^= 0x40;
    EXPECT_EQ(datagram_header_version(area.data()), 6) << at;
    area[at] ^= 0x40;
  }
  area[20] = 0x46;  // an option, which no packet of RoCE has
  EXPECT_EQ(datagram_header_version(area.data()), 6);
}

TEST(DatagramHeader, BytesThatAreNeitherHaveNoVersion) {
  EXPECT_EQ(datagram_header_version(std::vector<uint8_t>(40, 0).data()), 0);
  EXPECT_EQ(datagram_header_version(std::vector<uint8_t>(40, 0xFF).data()), 0);
}

}  // namespace
}  // namespace uroce::wire
