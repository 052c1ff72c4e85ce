// SPDX-License-Identifier: BSD-3-Clause
// ARP for IPv4 over Ethernet: parse and build (RFC 826).
#ifndef UROCE_WIRE_ARP_H
#define UROCE_WIRE_ARP_H

#include <cstdint>
#include <span>

#include "base/types.h"
#include "wire/parse.h"

namespace uroce::wire {

inline constexpr uint32_t kArpBytes = 28;

struct ArpMessage {
  static constexpr uint16_t kRequest = 1;
  static constexpr uint16_t kReply = 2;
  uint16_t operation = kRequest;
  MacAddress sender_mac;
  uint32_t sender_ip = 0;  // host order; 0 in a probe
  MacAddress target_mac;   // zero in a request
  uint32_t target_ip = 0;  // host order

  bool operator==(const ArpMessage&) const = default;
};

// Parses a frame that classify() found to be kArp. Only requests and replies for IPv4 over Ethernet
// whose sender is not a multicast MAC address are taken; all else is Drop::kArpMalformed.
Drop parse_arp(std::span<const uint8_t> frame, const L3Info& info, ArpMessage& out);

// Builds the whole frame into `room`; returns its length, or 0 when the room is too small.
uint32_t build_arp(std::span<uint8_t> room, const EthernetFields& ethernet,
                   const ArpMessage& message);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_ARP_H
