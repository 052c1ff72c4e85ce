// SPDX-License-Identifier: BSD-3-Clause
// ARP for IPv4 over Ethernet, to fields and back.
#include "wire/arp.h"

namespace uroce::wire {
namespace {

// Hardware type Ethernet, protocol type IPv4, address lengths 6 and 4.
constexpr uint64_t kArpPrefix = 0x0001'0800'06'04;

}  // namespace

Drop parse_arp(std::span<const uint8_t> frame, const L3Info& info, ArpMessage& out) {
  if (frame.size() < info.l3_offset + kArpBytes) return Drop::kArpMalformed;
  const uint8_t* arp = frame.data() + info.l3_offset;
  if (load_be64(arp) >> 16 != kArpPrefix) return Drop::kArpMalformed;
  out.operation = load_be16(arp + 6);
  if (out.operation != ArpMessage::kRequest && out.operation != ArpMessage::kReply) {
    return Drop::kArpMalformed;
  }
  out.sender_mac = load_mac(arp + 8);
  out.sender_ip = load_be32(arp + 14);
  out.target_mac = load_mac(arp + 18);
  out.target_ip = load_be32(arp + 24);
  return out.sender_mac.is_multicast() ? Drop::kArpMalformed : Drop::kNone;
}

uint32_t build_arp(std::span<uint8_t> room, const EthernetFields& ethernet,
                   const ArpMessage& message) {
  if (room.size() < kEthernetBytes + kVlanTagBytes + kArpBytes) return 0;
  const uint32_t l3_offset = store_ethernet(room.data(), ethernet, kEthertypeArp);
  uint8_t* arp = room.data() + l3_offset;
  store_be64(arp, kArpPrefix << 16 | message.operation);
  std::memcpy(arp + 8, message.sender_mac.bytes.data(), kMacBytes);
  store_be32(arp + 14, message.sender_ip);
  std::memcpy(arp + 18, message.target_mac.bytes.data(), kMacBytes);
  store_be32(arp + 24, message.target_ip);
  return l3_offset + kArpBytes;
}

}  // namespace uroce::wire
