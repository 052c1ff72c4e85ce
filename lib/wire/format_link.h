// SPDX-License-Identifier: BSD-3-Clause
// The short lines for frames that carry the link and not RoCE: ARP, ICMP, neighbour discovery, IGMP
// and MLD.
#ifndef UROCE_WIRE_FORMAT_LINK_H
#define UROCE_WIRE_FORMAT_LINK_H

#include <span>

#include "wire/parse.h"
#include "wire/text_line.h"

namespace uroce::wire {

// Appends "source > destination" of a frame whose IP header classify() has seen.
void add_ip_addresses(TextLine& line, std::span<const uint8_t> frame, const L3Info& info);

// Appends the text for a frame of any kind but kRoce.
void add_link_frame(TextLine& line, std::span<const uint8_t> frame, const L3Info& info,
                    const ParseOptions& options);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_FORMAT_LINK_H
