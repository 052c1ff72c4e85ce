// SPDX-License-Identifier: BSD-3-Clause
// IPv4, IPv6 and UDP: sizes, protocol numbers, and storing the headers of our own packets.
#ifndef UROCE_WIRE_IP_H
#define UROCE_WIRE_IP_H

#include <cstdint>
#include <span>

#include "base/types.h"
#include "wire/ethernet.h"

namespace uroce::wire {

inline constexpr uint32_t kIpv4Bytes = 20;
inline constexpr uint32_t kIpv6Bytes = 40;
inline constexpr uint32_t kUdpBytes = 8;
inline constexpr uint16_t kRoceUdpPort = 4791;
inline constexpr uint32_t kRouterAlertBytes4 = 4;  // the IPv4 option
inline constexpr uint32_t kHopByHopBytes = 8;      // IPv6 header with Router Alert and padding
inline constexpr uint8_t kProtocolHopByHop = 0;
inline constexpr uint8_t kProtocolIcmp = 1;
inline constexpr uint8_t kProtocolIgmp = 2;
inline constexpr uint8_t kProtocolUdp = 17;
inline constexpr uint8_t kProtocolIcmpv6 = 58;

// An IP header of ours. Both addresses are of the same IP version, which decides the header's.
struct IpFields {
  Gid source;
  Gid destination;
  uint8_t protocol = kProtocolUdp;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 64;
  uint32_t flow_label = 0;    // IPv6 only
  uint16_t ip_id = 0;         // IPv4 only
  bool router_alert = false;  // IPv4 option, or IPv6 hop-by-hop header of value 0 (MLD)
};

// Bytes that store_ip() writes for these fields: 20, 24, 40 or 48.
uint32_t ip_header_bytes(const IpFields& fields);

// Writes the IP header for `payload_bytes` that follow, IPv4 with DF and checksum. Returns its
// length. The room is the caller's: ip_header_bytes().
uint32_t store_ip(uint8_t* to, const IpFields& fields, uint32_t payload_bytes);

// Writes the Ethernet and IP headers of a frame whose IP payload of `payload_bytes` follows, and
// returns their length, or 0 when the room is too small for the whole, a VLAN tag included.
uint32_t store_headers(std::span<uint8_t> room, const EthernetFields& ethernet, const IpFields& ip,
                       uint32_t payload_bytes);

// The partial checksum of the pseudo-header for a packet with these fields (the protocol is that of
// the upper layer, not hop-by-hop).
uint64_t pseudo_header_sum(const IpFields& fields, uint32_t payload_bytes);

// True when an ICMPv6 message is intact; its IPv6 header lies at `l3`.
bool icmpv6_checksum_good(const uint8_t* l3, std::span<const uint8_t> message);

// Writes an address as it lies in an IP header: 4 bytes for IPv4 (returned), else 16.
uint32_t store_address(uint8_t* to, const Gid& address);
// Reads an address from an IP header as a GID.
Gid load_address(const uint8_t* from, bool ipv6);

// The Ethernet address of a multicast group: 01:00:5e and the low 23 bits of an IPv4 group (RFC
// 1112), 33:33 and the low 32 bits of an IPv6 group (RFC 2464).
MacAddress multicast_mac(const Gid& group);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_IP_H
