// SPDX-License-Identifier: BSD-3-Clause
// The requester's half of an RC queue pair, and all that UD needs to send.
#ifndef UROCE_TRANSPORT_REQUESTER_STATE_H
#define UROCE_TRANSPORT_REQUESTER_STATE_H

#include <cstdint>

#include "base/types.h"
#include "memory/change.h"
#include "transport/completion_queue.h"

namespace uroce::transport {

inline constexpr uint32_t kUnackedPsnsMax = 1024;  // window in packets

// What is being done about a loss (recovery.cc).
enum class Recovery : uint8_t {
  kNone,
  kWentBack,  // a NAK: everything from the named packet on is sent again
  kRepair,    // a NAK: the named packet alone is
  kRefused,   // an RNR NAK: the refused packet alone, the rest when it has been taken
};

// Packets that are sent before the one at the cursor, in this order; bits.
enum OutOfTurn : uint8_t {
  kOldestPacket = 1,  // that is not acknowledged
  kNewestPacket = 2,  // that was ever sent
};

// The engine's notes on a send WQE, beside the ring: set when its first packet leaves.
struct SendProgress {
  Psn first_psn;
  uint32_t packet_count = 0;  // PSNs that it takes; 0: a local operation
};

// Cursor rules (RC). The send queue's consumer index … begun_index are the WQEs begun and not
// complete; begun_index is the next one to begin. next_psn is the PSN of the packet at (next_index,
// next_packet); a retry moves the cursor back to unacked_psn, max_psn stays. unacked_psn lies in
// the oldest WQE; if that is a READ, everything before it has been received.
struct RequesterState {
  uint32_t next_index = 0;   // WQE of the next packet (free-running ring index)
  uint32_t next_packet = 0;  // packet within that WQE
  uint32_t begun_index = 0;  // one past the newest WQE of which a packet was sent
  Psn next_psn;
  Psn max_psn;         // one past the newest PSN ever sent
  Psn unacked_psn;     // oldest PSN not acknowledged
  Psn read_asked_psn;  // where the rest of the oldest WQE, a READ, was last asked for again
  uint32_t reads_outstanding = 0;
  uint32_t packets_since_ack_request = 0;
  uint8_t retry_left = 0;
  uint8_t rnr_left = 0;
  bool recovering = false;  // between going back and the next progress
  // The WQE at the cursor cannot be sent and will end with this; the older ones come first.
  WcStatus held_status = WcStatus::kSuccess;
  Recovery recovery = Recovery::kNone;
  bool peer_keeps = false;            // has been seen to keep packets that came early
  uint8_t out_of_turn = 0;            // OutOfTurn
  uint8_t probes = 0;                 // since the last progress, up to a limit
  uint32_t window = kUnackedPsnsMax;  // PSNs from unacked_psn on that may be used now
  Psn recovery_psn;                   // what the going back or the repair was for
  Psn repair_end;  // max_psn when the repair, or the last probe, was decided upon
  Psn rnr_psn;     // what the RNR NAK refused
  Time ack_deadline = kNever;
  Duration ack_shifted{};   // by clock gaps since it was armed
  Time rnr_until = kNever;  // kNever: not waiting
  // When the local operation at the cursor, which waits for other engines, is tried again.
  Time keys_until = kNever;
  memory::KeyWait key_wait;  // what it waits for
  Time probe_deadline = kNever;
  Psn asked_psn;  // the newest that is covered by a packet which asked for an answer
  // Round trip: one packet at a time is timed (tail_probe.cc).
  Time sample_sent = kNever;      // kNever: none is being timed
  Psn sample_psn;                 // which
  uint32_t srtt_ns = 0;           // smoothed; 0: no sample yet
  uint32_t rtt_variation_ns = 0;  // mean deviation

  // How far a PSN lies ahead of the oldest that is not acknowledged. Without sign: a READ alone may
  // take 2^23 PSNs. At or above outstanding(): it was not sent, or is acknowledged.
  uint32_t ahead(Psn psn) const { return (psn - unacked_psn.value()).value(); }
  uint32_t outstanding() const { return ahead(max_psn); }
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_REQUESTER_STATE_H
