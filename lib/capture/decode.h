// SPDX-License-Identifier: BSD-3-Clause
// Decoding captures: every frame as a line with a verdict, and counts per kind of fault.
#ifndef UROCE_CAPTURE_DECODE_H
#define UROCE_CAPTURE_DECODE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/drop.h"
#include "wire/parse.h"

namespace uroce::capture {

// What a frame turned out to be.
enum class FrameClass : uint8_t {
  kRoce,   // UDP port 4791, good or bad
  kLink,   // ARP, ICMP, neighbour discovery, IGMP, MLD
  kOther,  // of no concern here, and no fault
};

struct Verdict {
  FrameClass frame_class = FrameClass::kOther;
  wire::Drop fault = wire::Drop::kNone;  // why a receiver would refuse the frame; kNone: it is good
};

// Judges one frame as a receiver would before it looks for a queue pair: lengths, checksums, a UDP
// checksum that is not zero, BTH version, opcode, headers, pad, ICRC. Any VLAN is accepted.
Verdict judge_frame(std::span<const uint8_t> frame);

struct DecodeSummary {
  uint64_t frames = 0;
  uint64_t roce = 0;
  uint64_t link = 0;
  uint64_t other = 0;
  uint64_t bad = 0;
  std::array<uint64_t, wire::kDropCount> faults{};  // by Drop
};

struct DecodedFrame {
  uint64_t number;      // from 1
  int64_t time_ns;      // since 1970
  uint32_t kept_bytes;  // in the file
  uint32_t wire_bytes;
  const char* line;  // without line end; ends with "ICRC ok" or "ICRC bad" where one was verified
  Verdict verdict;
};

// Called once per frame, in order. The frame and its line live as long as the call.
using DecodeSink = void (*)(void* context, const DecodedFrame& frame);

// Decodes a whole file. 0, or a negative errno value with a line in `error` (that names the file);
// frames before the damage have been given to the sink, and the summary counts them.
int decode_file(const char* path, DecodeSink sink, void* context, DecodeSummary& summary,
                std::span<char> error);

}  // namespace uroce::capture

#endif  // UROCE_CAPTURE_DECODE_H
