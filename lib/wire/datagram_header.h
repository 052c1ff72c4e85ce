// SPDX-License-Identifier: BSD-3-Clause
// The 40 bytes that stand before a datagram in its receive buffer (IBA's GRH): an IPv6 header, or
// 20 bytes of anything and then an IPv4 header.
#ifndef UROCE_WIRE_DATAGRAM_HEADER_H
#define UROCE_WIRE_DATAGRAM_HEADER_H

#include <cstdint>

#include "wire/ip.h"

namespace uroce::wire {

// 4 or 6, or 0 when the bytes are neither. What is before an IPv4 header may look like the start of
// an IPv6 header, so the IPv4 header's checksum decides.
int datagram_header_version(const uint8_t* header);

// Addresses, protocol, traffic class, hop limit and (IPv6) flow label of a header of this version.
IpFields load_datagram_header(const uint8_t* header, int version);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_DATAGRAM_HEADER_H
