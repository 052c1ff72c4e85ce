// SPDX-License-Identifier: BSD-3-Clause
// The requester's half of an RC queue pair, and all that UD needs to send.
#ifndef UROCE_TRANSPORT_REQUESTER_STATE_H
#define UROCE_TRANSPORT_REQUESTER_STATE_H

#include <cstdint>

#include "base/types.h"

namespace uroce::transport {

// The engine's notes on a send WQE, beside the ring: set when its first packet leaves.
struct SendProgress {
  Psn first_psn;
  uint32_t packet_count = 0;  // PSNs that it takes
};

// Cursor rules: unacked_index … next_index are the WQEs begun and not complete. next_psn is the
// PSN of the packet at (next_index, next_packet); a retry moves the cursor back, max_psn stays.
struct RequesterState {
  uint32_t next_index = 0;   // WQE of the next packet (free-running ring index)
  uint32_t next_packet = 0;  // packet within that WQE
  Psn next_psn;
  Psn max_psn;                     // one past the newest PSN ever sent
  Psn unacked_psn;                 // oldest PSN not acknowledged
  uint32_t read_packets_done = 0;  // of the oldest WQE, if it is a READ: response packets taken
  uint32_t reads_outstanding = 0;
  uint32_t packets_since_ack_request = 0;
  uint8_t retry_left = 0;
  uint8_t rnr_left = 0;
  bool recovering = false;  // between going back and the next progress
  Psn recovery_psn;         // what the going back was for
  Time ack_deadline = kNever;
  Time rnr_until = kNever;  // kNever: not waiting
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_REQUESTER_STATE_H
