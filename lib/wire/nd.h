// SPDX-License-Identifier: BSD-3-Clause
// IPv6 neighbour discovery: solicitations and advertisements, parse and build (RFC 4861).
#ifndef UROCE_WIRE_ND_H
#define UROCE_WIRE_ND_H

#include <cstdint>
#include <span>

#include "base/types.h"
#include "wire/parse.h"

namespace uroce::wire {

enum class NdKind : uint8_t {
  kSolicitation,
  kAdvertisement,
  kRouter,  // router solicitation, router advertisement, redirect: not for us, not an error
};

struct NdMessage {
  NdKind kind = NdKind::kSolicitation;
  Gid source;  // zero in a solicitation for duplicate address detection
  Gid destination;
  Gid target;                     // the address asked for or advertised
  bool has_link_address = false;  // source (solicitation) or target (advertisement) option
  MacAddress link_address;
  bool router = false;  // advertisement flags
  bool solicited = false;
  bool override_entry = false;

  bool operator==(const NdMessage&) const = default;
};

// Bytes of the largest frame that build_nd() makes.
inline constexpr uint32_t kNdFrameBytesMax = kEthernetBytes + kVlanTagBytes + kIpv6Bytes + 32;

// Parses a frame that classify() found to be kNd, with the checks that RFC 4861 7.1 asks for (hop
// limit 255, code 0, checksum, option lengths, target, flags). Of kRouter only the kind is filled.
// Refusals: those of check_ip(), kNdMalformed, kIcmpChecksum.
Drop parse_nd(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
              NdMessage& out);

// Builds a solicitation or an advertisement with hop limit 255; returns the frame's length, or 0
// when the room is too small.
uint32_t build_nd(std::span<uint8_t> room, const EthernetFields& ethernet,
                  const NdMessage& message);

// The multicast address that a solicitation for `target` goes to: ff02::1:ffXX:XXXX.
Gid solicited_node(const Gid& target);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_ND_H
