// SPDX-License-Identifier: BSD-3-Clause
// ICMP errors: which are about our flows, and that each kind has its counter.
#include "neigh/icmp_error.h"

#include <gtest/gtest.h>

#include "neigh/neigh_test.h"

namespace uroce::neigh {
namespace {

using wire::Drop;
using wire::IcmpKind;
using wire::IcmpMessage;

// The start of a UDP packet as an error quotes it.
Bytes quoted(const Gid& source, const Gid& destination, uint16_t port,
             uint8_t protocol = wire::kProtocolUdp) {
  wire::IpFields ip;
  ip.source = source;
  ip.destination = destination;
  ip.protocol = protocol;
  Bytes bytes(64);
  const uint32_t header = wire::store_ip(bytes.data(), ip, 100);
  store_be16(bytes.data() + header + 2, port);
  bytes.resize(header + 8);
  return bytes;
}

class IcmpErrorTest : public testing::Test {
 protected:
  IcmpErrorTest() { hops_.set(kOurAddresses, {}, {}); }
  Drop count(IcmpKind kind, bool ipv6, const Bytes& packet) {
    IcmpMessage error;
    error.kind = kind;
    error.ipv6 = ipv6;
    error.data = packet;
    return count_icmp_error(error, hops_, counters_);
  }
  NextHop hops_;
  HostStackCounters counters_;
};

TEST_F(IcmpErrorTest, EachKindAboutAFlowOfOursHasItsCounter) {
  const Bytes v4 = quoted(kOurIpv4, kPeerIpv4, wire::kRoceUdpPort);
  const Bytes v6 = quoted(kOurIpv6, kPeerIpv6, wire::kRoceUdpPort);
  for (int i = 0; i < 2; ++i) {
    const Bytes& packet = i == 0 ? v4 : v6;
    EXPECT_EQ(count(IcmpKind::kPacketTooBig, i == 1, packet), Drop::kNone);
    EXPECT_EQ(count(IcmpKind::kPortUnreachable, i == 1, packet), Drop::kNone);
    EXPECT_EQ(count(IcmpKind::kOther, i == 1, packet), Drop::kNone);
  }
  EXPECT_EQ(counters_.icmp_packet_too_big.value(), 2u);
  EXPECT_EQ(counters_.icmp_port_unreachable.value(), 2u);
  EXPECT_EQ(counters_.icmp_other_unreachable.value(), 2u);
}

TEST_F(IcmpErrorTest, ErrorsAboutOthersAreNotCounted) {
  const auto too_big = [&](const Bytes& packet, bool ipv6 = false) {
    return count(IcmpKind::kPacketTooBig, ipv6, packet);
  };
  EXPECT_EQ(too_big(quoted(kPeerIpv4, kOurIpv4, wire::kRoceUdpPort)), Drop::kNotForUs);
  EXPECT_EQ(too_big(quoted(kOurIpv4, kPeerIpv4, 53)), Drop::kNotForUs);
  EXPECT_EQ(too_big(quoted(kOurIpv4, kPeerIpv4, wire::kRoceUdpPort, 6)), Drop::kNotForUs);
  EXPECT_EQ(too_big(quoted(kOurIpv4, kPeerIpv4, wire::kRoceUdpPort), true), Drop::kNotForUs);
  EXPECT_EQ(counters_.icmp_packet_too_big.value(), 0u);
}

TEST_F(IcmpErrorTest, QuoteCutAnywhereIsNotReadBeyondItsEnd) {
  for (const bool ipv6 : {false, true}) {
    const Bytes whole = ipv6 ? quoted(kOurIpv6, kPeerIpv6, wire::kRoceUdpPort)
                             : quoted(kOurIpv4, kPeerIpv4, wire::kRoceUdpPort);
    for (size_t length = 0; length < whole.size() - 4; ++length) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
      EXPECT_EQ(count(IcmpKind::kPacketTooBig, ipv6, cut), Drop::kNotForUs) << length;
    }
  }
  // A header length below 20 would take the port from the destination address (x.x.18.183).
  Bytes short_header = quoted(kOurIpv4, gid("198.18.18.183"), 53);
  short_header[0] = 0x44;
  EXPECT_EQ(count(IcmpKind::kPacketTooBig, false, short_header), Drop::kNotForUs);
  Bytes long_header = quoted(kOurIpv4, kPeerIpv4, wire::kRoceUdpPort);
  long_header[0] = 0x4f;
  EXPECT_EQ(count(IcmpKind::kPacketTooBig, false, long_header), Drop::kNotForUs);
}

}  // namespace
}  // namespace uroce::neigh
