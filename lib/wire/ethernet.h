// SPDX-License-Identifier: BSD-3-Clause
// Ethernet and VLAN: sizes, Ethertypes, and storing a header.
#ifndef UROCE_WIRE_ETHERNET_H
#define UROCE_WIRE_ETHERNET_H

#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/types.h"

namespace uroce::wire {

inline constexpr uint32_t kMacBytes = 6;
inline constexpr uint32_t kEthernetBytes = 14;
inline constexpr uint32_t kVlanTagBytes = 4;
inline constexpr uint32_t kFrameBytesMin = 60;  // what a frame is padded to on the wire, less FCS
inline constexpr uint16_t kEthertypeIpv4 = 0x0800;
inline constexpr uint16_t kEthertypeArp = 0x0806;
inline constexpr uint16_t kEthertypeVlan = 0x8100;
inline constexpr uint16_t kEthertypeServiceVlan = 0x88A8;
inline constexpr uint16_t kEthertypeIpv6 = 0x86DD;
inline constexpr uint16_t kEthertypeRocev1 = 0x8915;
inline constexpr uint16_t kVlanIdMask = 0x0FFF;
inline constexpr MacAddress kBroadcastMac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

// Addresses of a frame to be built; the tag (priority and VLAN id) is written when `vlan` is set.
struct EthernetFields {
  MacAddress source;
  MacAddress destination;
  bool vlan = false;
  uint16_t vlan_tci = 0;
};

// Who sends: the frame's own half of the addresses.
struct LinkSource {
  MacAddress mac;
  bool vlan = false;
  uint16_t vlan_tci = 0;

  EthernetFields to(const MacAddress& destination) const {
    return {mac, destination, vlan, vlan_tci};
  }
};

// Writes the Ethernet header of 14 or 18 bytes and returns its length, where the payload begins.
inline uint32_t store_ethernet(uint8_t* to, const EthernetFields& fields, uint16_t ethertype) {
  std::memcpy(to, fields.destination.bytes.data(), kMacBytes);
  std::memcpy(to + 6, fields.source.bytes.data(), kMacBytes);
  uint32_t at = 12;
  if (fields.vlan) {
    store_be16(to + 12, kEthertypeVlan);
    store_be16(to + 14, fields.vlan_tci);
    at = 16;
  }
  store_be16(to + at, ethertype);
  return at + 2;
}

// Reads a MAC address from six bytes.
inline MacAddress load_mac(const uint8_t* from) {
  MacAddress mac;
  std::memcpy(mac.bytes.data(), from, kMacBytes);
  return mac;
}

}  // namespace uroce::wire

#endif  // UROCE_WIRE_ETHERNET_H
