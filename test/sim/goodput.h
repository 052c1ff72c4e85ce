// SPDX-License-Identifier: BSD-3-Clause
// Goodput of one RC connection over a lossy link of given speed and delay: exact, in virtual time.
//
// Two real engines and nothing else: hosts cost no time, so what is measured is the protocol.
#ifndef UROCE_TEST_SIM_GOODPUT_H
#define UROCE_TEST_SIM_GOODPUT_H

#include <cstdint>
#include <string>

#include "base/types.h"

namespace uroce::sim {

// Who talks to whom.
enum class Parties : uint8_t {
  kBothUroce,     // requester and responder as they are
  kStrictPeer,    // the responder drops every early packet, as go-back-N has it
  kProbingPlain,  // the same, and the requester sends everything again after every NAK
  kPlainGoBackN,  // the same without tail probes: go-back-N as the standard describes it
};

struct GoodputCase {
  Parties parties = Parties::kBothUroce;
  uint32_t loss_ppm = 0;  // of all frames of either direction
  uint32_t message_bytes = 1u << 20;
  Duration round_trip = std::chrono::microseconds(10);  // of the link, without the packets' time
  Duration longer_round_trip{};  // from the second millisecond on; 0: as before
  PathMtu mtu = PathMtu::k4096;
  uint64_t total_bytes = 32u << 20;
  uint64_t seed = 1;
};

struct Goodput {
  double gbit_per_s = 0;
  Duration elapsed{};
  uint64_t frames_sent = 0;  // by the requester
  uint64_t sent_again = 0;
  uint64_t probes = 0;
  uint64_t timeouts = 0;
  std::string failure;  // empty: every message has arrived and completed
};

Goodput measure_goodput(const GoodputCase& a_case);

// The table of doc/goodput.md, the whole file. Takes a minute under the optimiser.
std::string goodput_document();

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_GOODPUT_H
