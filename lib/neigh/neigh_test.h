// SPDX-License-Identifier: BSD-3-Clause
// What the tests of this room share: addresses of the captured hosts, frames, polling.
#ifndef UROCE_NEIGH_NEIGH_TEST_H
#define UROCE_NEIGH_NEIGH_TEST_H

#include <arpa/inet.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "neigh/next_hop.h"
#include "wire/arp.h"
#include "wire/drop.h"
#include "wire/frame.h"
#include "wire/icmp.h"
#include "wire/nd.h"
#include "wire/parse.h"

namespace uroce::neigh {

using Bytes = std::vector<uint8_t>;

inline constexpr Time kStart{std::chrono::seconds(100)};
inline constexpr MacAddress kOurMac{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x02}};
inline constexpr MacAddress kPeerMac{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x03}};
inline constexpr MacAddress kThirdMac{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x04}};

// An address from its text; the text must be right.
inline Gid gid(const char* text) {
  Gid out;
  if (inet_pton(AF_INET, text, out.bytes.data() + 12) == 1) {
    out.bytes[10] = out.bytes[11] = 0xff;
  } else if (inet_pton(AF_INET6, text, out.bytes.data()) != 1) {
    std::abort();
  }
  return out;
}

inline const Gid kOurIpv4 = gid("198.18.0.2");
inline const Gid kPeerIpv4 = gid("198.18.0.3");
inline const Gid kOurIpv6 = gid("fd00:c612::2");
inline const Gid kPeerIpv6 = gid("fd00:c612::3");
inline const std::vector<OwnAddress> kOurAddresses = {{kOurIpv4, 24}, {kOurIpv6, 64}};

// A frame as the parsers want it.
struct Classified {
  explicit Classified(Bytes frame) : bytes(std::move(frame)) {
    options.vlan_id = wire::kVlanAny;
    wire::classify(bytes, options, info);
  }
  Bytes bytes;
  wire::ParseOptions options;
  wire::L3Info info;
};

inline Bytes arp_frame(const MacAddress& to, const MacAddress& from,
                       const wire::ArpMessage& message) {
  Bytes frame(64);
  frame.resize(wire::build_arp(frame, {from, to, false, 0}, message));
  return frame;
}

inline Bytes arp_request(const Gid& target, const MacAddress& from = kPeerMac,
                         const Gid& sender = kPeerIpv4) {
  return arp_frame(wire::kBroadcastMac, from,
                   {wire::ArpMessage::kRequest, from, sender.ipv4(), {}, target.ipv4()});
}

inline Bytes arp_reply(const Gid& sender, const MacAddress& mac) {
  return arp_frame(kOurMac, mac,
                   {wire::ArpMessage::kReply, mac, sender.ipv4(), kOurMac, kOurIpv4.ipv4()});
}

inline Bytes nd_frame(const MacAddress& to, const MacAddress& from,
                      const wire::NdMessage& message) {
  Bytes frame(128);
  frame.resize(wire::build_nd(frame, {from, to, false, 0}, message));
  return frame;
}

inline Bytes solicitation(const Gid& target, const Gid& source = kPeerIpv6) {
  wire::NdMessage message;
  message.source = source;
  message.destination = wire::solicited_node(target);
  message.target = target;
  message.has_link_address = !source.is_zero();
  message.link_address = kPeerMac;
  return nd_frame(wire::multicast_mac(message.destination), kPeerMac, message);
}

inline Bytes advertisement(const Gid& target, const MacAddress& mac, bool solicited,
                           bool override_entry) {
  wire::NdMessage message;
  message.kind = wire::NdKind::kAdvertisement;
  message.source = target;
  message.destination = kOurIpv6;
  message.target = target;
  message.has_link_address = true;
  message.link_address = mac;
  message.solicited = solicited;
  message.override_entry = override_entry;
  return nd_frame(kOurMac, mac, message);
}

inline Bytes icmp_frame(const Gid& to, const wire::IcmpMessage& message,
                        const Gid& from_ipv4 = kPeerIpv4, const Gid& from_ipv6 = kPeerIpv6) {
  wire::IpFields ip;
  ip.destination = to;
  ip.source = to.is_ipv4() ? from_ipv4 : from_ipv6;
  Bytes frame(4096);
  frame.resize(wire::build_icmp(frame, {kPeerMac, kOurMac, false, 0}, ip, message));
  return frame;
}

inline Bytes ping(const Gid& to, size_t data_bytes, uint16_t sequence = 1) {
  Bytes data(data_bytes);
  for (size_t i = 0; i < data_bytes; ++i) data[i] = static_cast<uint8_t>(i);
  wire::IcmpMessage message;
  message.kind = wire::IcmpKind::kEchoRequest;
  message.echo_id = 77;
  message.echo_sequence = sequence;
  message.data = data;
  return icmp_frame(to, message);
}

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_NEIGH_TEST_H
