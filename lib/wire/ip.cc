// SPDX-License-Identifier: BSD-3-Clause
// Storing the IP headers of our own packets.
#include "wire/ip.h"

#include <cstring>

#include "base/bytes.h"
#include "wire/checksum.h"

namespace uroce::wire {
namespace {

// Router Alert of value 0: RFC 2113 for IPv4, RFC 2711 (with PadN) for IPv6.
constexpr uint8_t kRouterAlert4[kRouterAlertBytes4] = {0x94, 0x04, 0x00, 0x00};
constexpr uint8_t kRouterAlert6[] = {0x05, 0x02, 0x00, 0x00, 0x01, 0x00};

uint32_t store_ipv4(uint8_t* to, const IpFields& fields, uint32_t payload_bytes) {
  const uint32_t header = kIpv4Bytes + (fields.router_alert ? kRouterAlertBytes4 : 0);
  to[0] = static_cast<uint8_t>(0x40 | header / 4);
  to[1] = fields.traffic_class;
  store_be16(to + 2, static_cast<uint16_t>(header + payload_bytes));
  store_be16(to + 4, fields.ip_id);
  store_be16(to + 6, 0x4000);  // do not fragment
  to[8] = fields.hop_limit;
  to[9] = fields.protocol;
  store_be16(to + 10, 0);
  store_be32(to + 12, fields.source.ipv4());
  store_be32(to + 16, fields.destination.ipv4());
  if (fields.router_alert) std::memcpy(to + kIpv4Bytes, kRouterAlert4, sizeof kRouterAlert4);
  store_checksum(to + 10, checksum_add(0, to, header));
  return header;
}

uint32_t store_ipv6(uint8_t* to, const IpFields& fields, uint32_t payload_bytes) {
  const uint32_t extension = fields.router_alert ? kHopByHopBytes : 0;
  store_be32(to, 6u << 28 | uint32_t{fields.traffic_class} << 20 | (fields.flow_label & 0xFFFFF));
  store_be16(to + 4, static_cast<uint16_t>(extension + payload_bytes));
  to[6] = fields.router_alert ? kProtocolHopByHop : fields.protocol;
  to[7] = fields.hop_limit;
  std::memcpy(to + 8, fields.source.bytes.data(), 16);
  std::memcpy(to + 24, fields.destination.bytes.data(), 16);
  if (fields.router_alert) {
    to[kIpv6Bytes] = fields.protocol;
    to[kIpv6Bytes + 1] = 0;
    std::memcpy(to + kIpv6Bytes + 2, kRouterAlert6, sizeof kRouterAlert6);
  }
  return kIpv6Bytes + extension;
}

}  // namespace

uint32_t ip_header_bytes(const IpFields& fields) {
  if (fields.destination.is_ipv4()) {
    return kIpv4Bytes + (fields.router_alert ? kRouterAlertBytes4 : 0);
  }
  return kIpv6Bytes + (fields.router_alert ? kHopByHopBytes : 0);
}

uint32_t store_ip(uint8_t* to, const IpFields& fields, uint32_t payload_bytes) {
  return fields.destination.is_ipv4() ? store_ipv4(to, fields, payload_bytes)
                                      : store_ipv6(to, fields, payload_bytes);
}

uint32_t store_headers(std::span<uint8_t> room, const EthernetFields& ethernet, const IpFields& ip,
                       uint32_t payload_bytes) {
  const uint32_t bytes = kEthernetBytes + kVlanTagBytes + ip_header_bytes(ip) + payload_bytes;
  if (room.size() < bytes) return 0;
  const uint16_t ethertype = ip.destination.is_ipv4() ? kEthertypeIpv4 : kEthertypeIpv6;
  const uint32_t l3_offset = store_ethernet(room.data(), ethernet, ethertype);
  return l3_offset + store_ip(room.data() + l3_offset, ip, payload_bytes);
}

uint32_t store_address(uint8_t* to, const Gid& address) {
  if (address.is_ipv4()) {
    store_be32(to, address.ipv4());
    return 4;
  }
  std::memcpy(to, address.bytes.data(), 16);
  return 16;
}

Gid load_address(const uint8_t* from, bool ipv6) {
  if (!ipv6) return Gid::from_ipv4(load_be32(from));
  Gid gid;
  std::memcpy(gid.bytes.data(), from, sizeof gid.bytes);
  return gid;
}

MacAddress multicast_mac(const Gid& group) {
  const uint8_t* ip = group.bytes.data() + 12;
  if (group.is_ipv4()) {
    return {{0x01, 0x00, 0x5e, static_cast<uint8_t>(ip[1] & 0x7f), ip[2], ip[3]}};
  }
  return {{0x33, 0x33, ip[0], ip[1], ip[2], ip[3]}};
}

uint64_t pseudo_header_sum(const IpFields& fields, uint32_t payload_bytes) {
  uint8_t addresses[32];
  const uint32_t half = store_address(addresses, fields.source);
  const uint32_t both = half + store_address(addresses + half, fields.destination);
  return pseudo_header_sum(addresses, both, fields.protocol, payload_bytes);
}

bool icmpv6_checksum_good(const uint8_t* l3, std::span<const uint8_t> message) {
  const uint64_t pseudo =
      pseudo_header_sum(l3 + 8, 32, kProtocolIcmpv6, static_cast<uint32_t>(message.size()));
  return checksum_good(checksum_add(pseudo, message.data(), message.size()));
}

}  // namespace uroce::wire
