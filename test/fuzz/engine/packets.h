// SPDX-License-Identifier: BSD-3-Clause
// Packets of the peer, from a few bytes of the program. With zeros for all of them a packet is what
// the queue pair expects next; each byte bends one thing. The ICRC is right unless asked otherwise,
// or nothing behind that check would ever be reached.
#ifndef UROCE_TEST_FUZZ_ENGINE_PACKETS_H
#define UROCE_TEST_FUZZ_ENGINE_PACKETS_H

#include <cstdint>
#include <vector>

#include "test/fuzz/engine/fuzz_host.h"
#include "test/fuzz/engine/program.h"

namespace uroce::fuzz {

// Of the second byte of a packet's instruction.
enum Bend : uint8_t {
  kAnyOpcode = 1,   // the opcode byte counts as it is, service included
  kAnyPsn = 2,      // the PSN is in the program, not an offset
  kFromNewest = 4,  // of a response: the offset counts from the newest PSN sent
  kNoAckRequest = 8,
  kSolicited = 16,
  kOddHeader = 32,     // a byte for each of: flags and version of the BTH, P_Key, pad
  kOtherAddress = 64,  // other GIDs, or a group
  kWrongLength = 128,  // cut off, or with bytes behind it
};

std::vector<uint8_t> make_packet(FuzzHost& host, Program& program);

}  // namespace uroce::fuzz

#endif  // UROCE_TEST_FUZZ_ENGINE_PACKETS_H
