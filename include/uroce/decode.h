// SPDX-License-Identifier: BSD-3-Clause
// Decoding capture files of RoCEv2 traffic, for C11 and C++.
//
// Reads pcap and pcapng files of Ethernet frames and gives a line of text and a verdict for each
// frame, as a receiver would judge it before it looks for a queue pair: IP and UDP lengths, the
// IPv4 header checksum, a UDP checksum that is not zero, the transport header version, the opcode,
// the headers it asks for, the pad count and the ICRC. ARP, ICMP, neighbour discovery, IGMP and MLD
// are decoded and judged as well; other traffic is counted and never a fault.
//
// No device, no DPDK and no privilege is needed. Calls on different files are independent.
#ifndef UROCE_DECODE_H
#define UROCE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uroce_decoded_frame {
  uint64_t number;          // of the frame in its file, from 1
  int64_t time_ns;          // nanoseconds since 1970
  uint32_t kept_bytes;      // bytes of the frame that the file has
  uint32_t wire_bytes;      // bytes that it had on the wire
  const char* line;         // the frame in one line of text, without line end
  const char* fault;        // NULL: good; else the reason's name, such as "icrc" (doc/counters.md)
  const char* explanation;  // NULL: good; else the reason in words
};

struct uroce_decode_summary {
  uint64_t frames;  // all: roce + link + other
  uint64_t roce;    // to UDP port 4791
  uint64_t link;    // ARP, ICMP, neighbour discovery, IGMP and MLD
  uint64_t other;   // of no concern here
  uint64_t bad;     // frames with a fault
};

// Called for each frame in order; the frame and its strings live as long as the call.
typedef void (*uroce_decode_frame_fn)(void* context, const struct uroce_decoded_frame* frame);

// Decodes one file. `on_frame` may be NULL, `summary` may be NULL. Returns 0 when the whole file
// was read, faults or not. Otherwise a negative errno value, with one line that names the file and
// says what is wrong in `error` (of `error_bytes`; NULL and 0: not wanted): what open() says,
// -EINVAL for a file that is no capture of Ethernet frames, -EIO for one that is cut short or
// damaged (its frames up to there have been given, and are counted in `summary`).
int uroce_decode_capture(const char* path, uroce_decode_frame_fn on_frame, void* context,
                         struct uroce_decode_summary* summary, char* error, size_t error_bytes);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_DECODE_H
