// SPDX-License-Identifier: BSD-3-Clause
// Frames as readable lines: one line of text per frame, for logs, traces and the decoder.
#ifndef UROCE_WIRE_FORMAT_H
#define UROCE_WIRE_FORMAT_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/parse.h"

namespace uroce::wire {

// Room enough for any line that format_frame() makes.
inline constexpr size_t kFrameLineBytes = 512;
// Room enough for any IP address, and for any syndrome.
inline constexpr size_t kAddressTextBytes = 46;
inline constexpr size_t kSyndromeTextBytes = 32;

// All functions here write at most `capacity` bytes, the terminating zero included, and return the
// length of the whole text, as snprintf does. None allocates.

// One line for a frame, without a line end: addresses, VLAN, opcode, QPN, PSN, flags, extension
// headers, payload length. A frame that is refused shows the name of the reason.
size_t format_frame(char* to, size_t capacity, std::span<const uint8_t> frame,
                    const ParseOptions& options);

// The same for a packet that has been parsed.
size_t format_packet(char* to, size_t capacity, const ParsedFrame& packet);

// A GID as an IP address: "198.18.0.2", "fd00:c612::2".
size_t format_address(char* to, size_t capacity, const Gid& address);

// What an AETH syndrome says: "ACK", "ACK credits 4", "RNR NAK timer 12", "NAK PSN sequence", …
size_t format_syndrome(char* to, size_t capacity, uint8_t syndrome);

// Receive WQEs that an ACK's credit code (0..30) stands for.
uint32_t credits_of(uint8_t credit_code);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_FORMAT_H
