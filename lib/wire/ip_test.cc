// SPDX-License-Identifier: BSD-3-Clause
// IP headers of ours, addresses, group MACs and checksums.
#include "wire/ip.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::from_hex;
using testing::Random;

TEST(Ip, TheHeaderOfV1IsReproduced) {
  IpFields fields;
  fields.source = Gid::from_ipv4(0x0A000001);
  fields.destination = Gid::from_ipv4(0x0A000002);
  std::vector<uint8_t> bytes(ip_header_bytes(fields));
  EXPECT_EQ(store_ip(bytes.data(), fields, 32), 20u);
  EXPECT_EQ(bytes, from_hex("4500003400004000401126b70a0000010a000002"));
}

TEST(Ip, AnIpv6HeaderKeepsClassAndLabelApart) {
  IpFields fields;
  fields.source.bytes[15] = 1;
  fields.destination.bytes[0] = 0xfd;
  fields.traffic_class = 0xAB;
  fields.flow_label = 0xFFCDEF1;  // 20 bits count
  std::vector<uint8_t> bytes(ip_header_bytes(fields));
  EXPECT_EQ(store_ip(bytes.data(), fields, 9), 40u);
  EXPECT_EQ(load_be32(bytes.data()), 0x6ABCDEF1u);
  EXPECT_EQ(load_be16(bytes.data() + 4), 9);
}

TEST(Ip, AddressesComeBackAsGids) {
  Random random(26);
  uint8_t bytes[16];
  for (int i = 0; i < 100; ++i) {
    const Gid four = random.ipv4();
    EXPECT_EQ(store_address(bytes, four), 4u);
    EXPECT_EQ(load_address(bytes, false), four);
    const Gid six = random.ipv6();
    EXPECT_EQ(store_address(bytes, six), 16u);
    EXPECT_EQ(load_address(bytes, true), six);
  }
}

TEST(Ip, GroupsHaveTheirMacAddresses) {
  EXPECT_EQ(multicast_mac(Gid::from_ipv4(0xEF810203)),
            (MacAddress{{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}}));
  const Gid group{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3}};
  EXPECT_EQ(multicast_mac(group), (MacAddress{{0x33, 0x33, 0, 2, 0, 3}}));
}

TEST(Checksum, AgreesWithAWordByWordSum) {
  Random random(27);
  for (size_t n = 0; n < 200; ++n) {
    const std::vector<uint8_t> data = random.bytes(n);
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i += 2) {
      sum += static_cast<uint32_t>(data[i]) << 8 | (i + 1 < n ? data[i + 1] : 0);
    }
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    uint8_t stored[2];
    store_checksum(stored, checksum_add(0, data.data(), n));
    EXPECT_EQ(load_be16(stored), static_cast<uint16_t>(~sum)) << n;
  }
}

TEST(Checksum, ManyOnesDoNotOverflow) {
  const std::vector<uint8_t> ones(65536, 0xff);
  EXPECT_TRUE(checksum_good(checksum_add(0, ones.data(), ones.size())));
  EXPECT_EQ(checksum_fold(0xFFFFFFFFFFFFFFFF), 0xFFFF);
}

}  // namespace
}  // namespace uroce::wire
