// SPDX-License-Identifier: BSD-3-Clause
// ICMP and ICMPv6 echo and errors: parse and build (RFC 792, RFC 1191, RFC 4443).
#ifndef UROCE_WIRE_ICMP_H
#define UROCE_WIRE_ICMP_H

#include <cstdint>
#include <span>

#include "base/types.h"
#include "wire/parse.h"

namespace uroce::wire {

inline constexpr uint32_t kIcmpBytes = 8;

enum class IcmpKind : uint8_t {
  kEchoRequest,
  kEchoReply,
  kPacketTooBig,     // IPv4: fragmentation needed
  kPortUnreachable,  // nobody listens on the port
  kOther,            // any other type or code; type and code tell
};

// A message of either version. Build: kind (or, with kOther, type and code), and what the kind has.
struct IcmpMessage {
  IcmpKind kind = IcmpKind::kOther;
  bool ipv6 = false;
  uint8_t type = 0;
  uint8_t code = 0;
  uint16_t echo_id = 0;           // echo only
  uint16_t echo_sequence = 0;     // echo only
  uint32_t mtu = 0;               // kPacketTooBig only; 0 from an old IPv4 router
  std::span<const uint8_t> data;  // echo: its data. Errors: the packet that caused it, from its IP
                                  // header on, cut short
  MacAddress source_mac;          // parse only
  Gid source;                     // parse only
  Gid destination;                // parse only
};

// Parses a frame that classify() found to be kIcmp or kIcmpv6. `out.data` points into the frame.
// Refusals: those of check_ip(), kIcmpMalformed, kIcmpChecksum.
Drop parse_icmp(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
                IcmpMessage& out);

// Builds the whole frame; the IP version is that of the addresses, `ip.protocol` is set here.
// Returns its length, or 0 when the room is too small.
uint32_t build_icmp(std::span<uint8_t> room, const EthernetFields& ethernet, const IpFields& ip,
                    const IcmpMessage& message);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_ICMP_H
