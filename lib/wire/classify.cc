// SPDX-License-Identifier: BSD-3-Clause
// Telling frames apart: Ethernet, VLAN, IP version and protocol, UDP port.
#include "wire/parse.h"

namespace uroce::wire {
namespace {

constexpr uint8_t kProtocolRouting = 43;
constexpr uint8_t kProtocolFragment = 44;
constexpr uint8_t kProtocolDestinationOptions = 60;
constexpr uint8_t kMldQuery = 130;
constexpr uint8_t kMldDone = 132;
constexpr uint8_t kRouterSolicitation = 133;  // … neighbour messages …
constexpr uint8_t kRedirect = 137;
constexpr uint8_t kMldReport2 = 143;

// True when a frame with (or without) this tag belongs to the VLAN of the port.
bool vlan_fits(const L3Info& info, uint16_t vlan_id) {
  if (vlan_id == kVlanAny) return true;
  const uint16_t id = info.has_vlan ? info.vlan_tci & kVlanIdMask : kVlanNone;
  return id == vlan_id;
}

FrameKind other(L3Info& info, Drop why) {
  info.not_roce = why;
  return info.kind = FrameKind::kOther;
}

FrameKind found(L3Info& info, FrameKind kind, Drop why_not_roce) {
  info.not_roce = why_not_roce;
  return info.kind = kind;
}

FrameKind classify_udp(std::span<const uint8_t> frame, L3Info& info) {
  if (frame.size() < info.l4_offset + kUdpBytes) return other(info, Drop::kFrameCut);
  if (load_be16(frame.data() + info.l4_offset + 2) != kRoceUdpPort) {
    return other(info, Drop::kUdpPort);
  }
  return found(info, FrameKind::kRoce, Drop::kNone);
}

FrameKind classify_ipv4(std::span<const uint8_t> frame, L3Info& info) {
  const uint8_t* l3 = frame.data() + info.l3_offset;
  if (frame.size() < info.l3_offset + kIpv4Bytes) return other(info, Drop::kFrameShort);
  if (l3[0] >> 4 != 4) return other(info, Drop::kIpVersion);
  const uint32_t header = (l3[0] & 15u) * 4;
  if (header < kIpv4Bytes) return other(info, Drop::kIpHeader);
  info.l4_offset = info.l3_offset + header;
  if (frame.size() < info.l4_offset) return other(info, Drop::kIpHeader);
  // More fragments, or an offset: the upper header is not (all) here.
  if ((load_be16(l3 + 6) & 0x3FFF) != 0) return other(info, Drop::kIpFragment);
  info.protocol = l3[9];
  if (info.protocol == kProtocolUdp) return classify_udp(frame, info);
  if (info.protocol == kProtocolIcmp) return found(info, FrameKind::kIcmp, Drop::kIpProtocol);
  if (info.protocol == kProtocolIgmp) return found(info, FrameKind::kIgmp, Drop::kIpProtocol);
  return other(info, Drop::kIpProtocol);
}

FrameKind classify_icmpv6(std::span<const uint8_t> frame, L3Info& info) {
  if (frame.size() <= info.l4_offset) return other(info, Drop::kFrameShort);
  const uint8_t type = frame[info.l4_offset];
  const bool mld = (type >= kMldQuery && type <= kMldDone) || type == kMldReport2;
  if (mld) return found(info, FrameKind::kMld, Drop::kIpProtocol);
  const bool nd = type >= kRouterSolicitation && type <= kRedirect;
  return found(info, nd ? FrameKind::kNd : FrameKind::kIcmpv6, Drop::kIpProtocol);
}

FrameKind classify_ipv6(std::span<const uint8_t> frame, L3Info& info) {
  const uint8_t* l3 = frame.data() + info.l3_offset;
  if (frame.size() < info.l3_offset + kIpv6Bytes) return other(info, Drop::kFrameShort);
  if (l3[0] >> 4 != 6) return other(info, Drop::kIpVersion);
  info.protocol = l3[6];
  info.l4_offset = info.l3_offset + kIpv6Bytes;
  if (info.protocol == kProtocolUdp) return classify_udp(frame, info);
  if (info.protocol == kProtocolIcmpv6) return classify_icmpv6(frame, info);
  if (info.protocol == kProtocolFragment) return other(info, Drop::kIpFragment);
  if (info.protocol == kProtocolHopByHop) {
    // MLD comes behind hop-by-hop options (Router Alert); nothing else of ours does.
    if (frame.size() < info.l4_offset + 8) return other(info, Drop::kFrameShort);
    const uint8_t* options = l3 + kIpv6Bytes;
    const uint32_t length = 8u * (options[1] + 1u);
    info.protocol = options[0];
    info.l4_offset += length;
    if (info.protocol == kProtocolIcmpv6 && frame.size() > info.l4_offset) {
      return classify_icmpv6(frame, info);
    }
    return other(info, Drop::kIpv6Extension);
  }
  const bool extension =
      info.protocol == kProtocolRouting || info.protocol == kProtocolDestinationOptions;
  return other(info, extension ? Drop::kIpv6Extension : Drop::kIpProtocol);
}

}  // namespace

FrameKind classify(std::span<const uint8_t> frame, const ParseOptions& options, L3Info& info) {
  if (frame.size() < kEthernetBytes) {
    return other(info, frame.empty() ? Drop::kEmptyFrame : Drop::kFrameShort);
  }
  const uint8_t* bytes = frame.data();
  info.ethertype = load_be16(bytes + 12);
  info.l3_offset = kEthernetBytes;
  info.has_vlan = options.vlan_stripped;
  info.vlan_tci = options.vlan_stripped ? options.vlan_tci : uint16_t{0};
  if (info.ethertype == kEthertypeVlan) {
    if (frame.size() < kEthernetBytes + kVlanTagBytes) return other(info, Drop::kFrameShort);
    if (info.has_vlan) return other(info, Drop::kVlan);
    info.has_vlan = true;
    info.vlan_tci = load_be16(bytes + 14);
    info.ethertype = load_be16(bytes + 16);
    info.l3_offset = kEthernetBytes + kVlanTagBytes;
  }
  if (info.ethertype == kEthertypeVlan || info.ethertype == kEthertypeServiceVlan) {
    return other(info, Drop::kVlan);
  }
  if (!vlan_fits(info, options.vlan_id)) return other(info, Drop::kVlan);
  switch (info.ethertype) {
    case kEthertypeIpv4:
      return classify_ipv4(frame, info);
    case kEthertypeIpv6:
      info.ipv6 = true;
      return classify_ipv6(frame, info);
    case kEthertypeArp:
      return found(info, FrameKind::kArp, Drop::kEthertype);
    case kEthertypeRocev1:
      return other(info, Drop::kRocev1);
    default:
      return other(info, Drop::kEthertype);
  }
}

}  // namespace uroce::wire
