// SPDX-License-Identifier: BSD-3-Clause
// The short lines for ARP, ICMP, neighbour discovery, IGMP and MLD, and addresses as text.
#include "wire/format_link.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/arp.h"
#include "wire/format.h"
#include "wire/icmp.h"
#include "wire/igmp.h"
#include "wire/mld.h"
#include "wire/nd.h"
#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

std::string line_of(std::span<const uint8_t> frame) {
  char line[kFrameLineBytes];
  const size_t length = format_frame(line, sizeof line, frame, testing::any_vlan());
  EXPECT_LT(length, sizeof line);
  return line;
}

std::string address_text(const Gid& gid) {
  char text[kAddressTextBytes];
  format_address(text, sizeof text, gid);
  return text;
}

TEST(FormatLink, AddressesAreShortenedAsRfc5952Says) {
  EXPECT_EQ(address_text(Gid{}), "::");
  EXPECT_EQ(address_text(Gid{{0xfd, 0, 0xc6, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}}),
            "fd00:c612::2");
  EXPECT_EQ(address_text(Gid{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 2}}),
            "ff02::1:ff00:2");
  EXPECT_EQ(address_text(Gid{{0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1}}), "1:0:1::1:1:1");
  EXPECT_EQ(address_text(Gid{{0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0}}), "1:0:1:1:1:1:1:0");
  EXPECT_EQ(address_text(Gid{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}), "fe80::");
  EXPECT_EQ(address_text(Gid::from_ipv4(0xC6120002)), "198.18.0.2");
}

TEST(FormatLink, LinkFramesHaveShortLines) {
  uint8_t room[256];
  const auto text = [&](uint32_t length) { return line_of({room, length}); };
  const uint32_t a = 0x0A000001;
  const uint32_t b = 0x0A000002;
  EXPECT_EQ(text(build_arp(room, {}, {ArpMessage::kRequest, testing::kMacA, a, {}, b})),
            "ARP who has 10.0.0.2, tell 10.0.0.1");
  EXPECT_EQ(text(build_arp(room, {}, {ArpMessage::kReply, testing::kMacB, b, {}, a})),
            "ARP 10.0.0.2 is at 02:00:00:00:00:0b");
  IpFields ip;
  ip.source = Gid::from_ipv4(a);
  ip.destination = Gid::from_ipv4(b);
  IcmpMessage echo;
  echo.kind = IcmpKind::kEchoRequest;
  echo.echo_id = 7;
  echo.echo_sequence = 8;
  EXPECT_EQ(text(build_icmp(room, {}, ip, echo)),
            "10.0.0.1 > 10.0.0.2 ICMP echo request id 7 sequence 8");
  NdMessage nd;
  nd.source = Gid{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  nd.target = Gid{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  nd.destination = solicited_node(nd.target);
  nd.has_link_address = true;
  nd.link_address = testing::kMacA;
  EXPECT_EQ(text(build_nd(room, {}, nd)),
            "fe80::1 > ff02::1:ff00:2 ND who has fd00::2 from 02:00:00:00:00:0a");
  MembershipMessage report;
  report.kind = MembershipKind::kRecordReport;
  const GroupRecord record{RecordType::kChangeToExclude, Gid::from_ipv4(0xEF010203), {}};
  EXPECT_EQ(text(build_igmp(room, {}, a, report, {&record, 1})),
            "10.0.0.1 > 224.0.0.22 IGMPv3 report, 1 record: to-exclude 239.1.2.3");
  MembershipMessage query;
  query.version = 2;
  query.max_response_ms = 10000;
  EXPECT_EQ(text(build_mld(room, {}, nd.source, query, {})),
            "fe80::1 > ff02::1 MLDv2 query all groups within 10000 ms");
}

TEST(FormatLink, DamagedLinkFramesAreRefusedByName) {
  uint8_t room[256];
  const uint32_t length = build_igmp(room, {}, 1, {}, {});
  room[length - 1] ^= 1;
  EXPECT_EQ(line_of({room, length}),
            "IGMP refused igmp_checksum: wrong checksum of an IGMP message");
}

}  // namespace
}  // namespace uroce::wire
