// SPDX-License-Identifier: BSD-3-Clause
// IPv6 neighbour discovery, to fields and back.
#include "wire/nd.h"

#include "wire/checksum.h"

namespace uroce::wire {
namespace {

constexpr uint8_t kSolicitationType = 135;
constexpr uint8_t kAdvertisementType = 136;
constexpr uint8_t kHopLimit = 255;
constexpr uint32_t kFixedBytes = 24;
constexpr uint32_t kLinkOptionBytes = 8;
constexpr uint8_t kSourceLinkOption = 1;
constexpr uint8_t kTargetLinkOption = 2;

// Walks the options for the link-layer address; false when one is malformed.
bool parse_options(std::span<const uint8_t> options, uint8_t wanted, NdMessage& out) {
  while (!options.empty()) {
    if (options.size() < 2) return false;
    const size_t bytes = size_t{options[1]} * 8;
    if (bytes == 0 || bytes > options.size()) return false;
    if (options[0] == wanted && bytes == kLinkOptionBytes) {
      out.has_link_address = true;
      out.link_address = load_mac(options.data() + 2);
    }
    options = options.subspan(bytes);
  }
  return true;
}

// What RFC 4861 7.1.1 and 7.1.2 demand of the fields together.
bool fields_agree(const NdMessage& message) {
  if (message.target.is_multicast()) return false;
  if (message.has_link_address && message.link_address.is_multicast()) return false;
  if (message.kind == NdKind::kAdvertisement) {
    return !(message.solicited && message.destination.is_multicast());
  }
  if (!message.source.is_zero()) return true;
  return message.destination == solicited_node(message.target) && !message.has_link_address;
}

}  // namespace

Drop parse_nd(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
              NdMessage& out) {
  std::span<const uint8_t> icmp;
  if (const Drop drop = check_ip(frame, info, options, icmp); drop != Drop::kNone) return drop;
  const uint8_t* l3 = frame.data() + info.l3_offset;
  if (icmp.size() < 8 || l3[7] != kHopLimit || icmp[1] != 0) return Drop::kNdMalformed;
  if (!icmpv6_checksum_good(l3, icmp)) return Drop::kIcmpChecksum;
  out = {};
  out.source = load_address(l3 + 8, true);
  out.destination = load_address(l3 + 24, true);
  if (icmp[0] != kSolicitationType && icmp[0] != kAdvertisementType) {
    out.kind = NdKind::kRouter;
    return Drop::kNone;
  }
  if (icmp.size() < kFixedBytes) return Drop::kNdMalformed;
  const bool advertisement = icmp[0] == kAdvertisementType;
  out.kind = advertisement ? NdKind::kAdvertisement : NdKind::kSolicitation;
  if (advertisement) {
    out.router = (icmp[4] & 0x80) != 0;
    out.solicited = (icmp[4] & 0x40) != 0;
    out.override_entry = (icmp[4] & 0x20) != 0;
  }
  out.target = load_address(icmp.data() + 8, true);
  const uint8_t option = advertisement ? kTargetLinkOption : kSourceLinkOption;
  if (!parse_options(icmp.subspan(kFixedBytes), option, out)) return Drop::kNdMalformed;
  return fields_agree(out) ? Drop::kNone : Drop::kNdMalformed;
}

uint32_t build_nd(std::span<uint8_t> room, const EthernetFields& ethernet,
                  const NdMessage& message) {
  if (room.size() < kNdFrameBytesMax) return 0;
  const bool advertisement = message.kind == NdKind::kAdvertisement;
  const uint32_t icmp_bytes = kFixedBytes + (message.has_link_address ? kLinkOptionBytes : 0);
  IpFields ip;
  ip.source = message.source;
  ip.destination = message.destination;
  ip.protocol = kProtocolIcmpv6;
  ip.hop_limit = kHopLimit;
  const uint32_t at = store_headers(room, ethernet, ip, icmp_bytes);
  uint8_t* icmp = room.data() + at;
  std::memset(icmp, 0, icmp_bytes);
  icmp[0] = advertisement ? kAdvertisementType : kSolicitationType;
  if (advertisement) {
    icmp[4] = static_cast<uint8_t>((message.router ? 0x80 : 0) | (message.solicited ? 0x40 : 0) |
                                   (message.override_entry ? 0x20 : 0));
  }
  std::memcpy(icmp + 8, message.target.bytes.data(), 16);
  if (message.has_link_address) {
    icmp[kFixedBytes] = advertisement ? kTargetLinkOption : kSourceLinkOption;
    icmp[kFixedBytes + 1] = kLinkOptionBytes / 8;
    std::memcpy(icmp + kFixedBytes + 2, message.link_address.bytes.data(), kMacBytes);
  }
  store_checksum(icmp + 2, checksum_add(pseudo_header_sum(ip, icmp_bytes), icmp, icmp_bytes));
  return at + icmp_bytes;
}

Gid solicited_node(const Gid& target) {
  Gid group{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff}};
  std::memcpy(group.bytes.data() + 13, target.bytes.data() + 13, 3);
  return group;
}

}  // namespace uroce::wire
