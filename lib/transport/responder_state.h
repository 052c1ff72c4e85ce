// SPDX-License-Identifier: BSD-3-Clause
// The responder's half of an RC queue pair.
#ifndef UROCE_TRANSPORT_RESPONDER_STATE_H
#define UROCE_TRANSPORT_RESPONDER_STATE_H

#include <cstdint>

#include "base/types.h"
#include "wire/opcode.h"

namespace uroce::transport {

// A READ, atomic, ATOMIC WRITE or FLUSH that was taken, kept so that a duplicate can be answered
// again. Ring of dest_rd_atomic_max entries, oldest recycled first.
struct ReplaySlot {
  Psn first_psn;
  uint32_t packet_count = 0;  // 0: slot unused
  uint64_t address = 0;
  uint32_t length = 0;
  uint32_t rkey = 0;
  uint32_t pd = 0;        // in which the key is looked up
  uint64_t original = 0;  // atomic: the value that it found
  wire::Opcode opcode = wire::Opcode::kRcReadRequest;
};

// Something the responder owes the peer, in order. An ACK at the tail is moved forward in place
// (coalescing); it is never moved past a READ whose response has not gone out.
struct Response {
  enum class Kind : uint8_t { kAcknowledge, kRead, kAtomic };
  Kind kind = Kind::kAcknowledge;
  uint8_t syndrome = 0;  // acknowledge
  Psn psn;               // of the acknowledge, or of the first response packet
  uint32_t msn = 0;
  uint64_t address = 0;  // READ: what is to be read
  uint32_t length = 0;
  uint32_t rkey = 0;
  uint32_t pd = 0;  // in which the key is looked up
  uint32_t packets_sent = 0;
  uint64_t original = 0;  // atomic: the value that it found
  bool again = false;     // READ: it was answered before
};

// A FLUSH that was judged and is carried out in parts (flush.h). Its PSN is the expected one until
// all is written back.
struct FlushInProgress {
  Time next_part = kNever;  // when; kNever: there is none in progress
  uint64_t address = 0;
  uint64_t written = 0;  // bytes written back so far
  uint32_t length = 0;
  uint32_t rkey = 0;
  uint32_t rights = 0;  // that it needs of the key
  wire::Opcode opcode = wire::Opcode::kRcFlush;
  bool whole_region = false;
};

enum class MessageInProgress : uint8_t { kNone, kSend, kWrite };

struct ResponderState {
  Psn expected_psn;
  uint32_t msn = 0;  // 24 bits
  MessageInProgress message = MessageInProgress::kNone;
  bool recv_wqe_held = false;   // a SEND has taken the WQE at the receive queue's consumer index
  uint32_t received_bytes = 0;  // of the message in progress
  uint64_t write_address = 0;   // WRITE in progress: next byte
  uint32_t write_rkey = 0;
  uint32_t write_bytes_left = 0;
  uint32_t write_length = 0;       // of the whole WRITE
  bool sequence_nak_sent = false;  // one NAK 0x60 per gap
  bool rnr_nak_sent = false;       // silent until the refused PSN comes again
  bool established = false;        // COMM_EST raised
  uint32_t responses_head = 0;
  uint32_t responses_tail = 0;
  uint32_t replay_next = 0;  // next replay slot to recycle
  uint16_t kept_count = 0;   // packets ahead of the expected one that are kept (reorder.h)
  FlushInProgress flush;
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_RESPONDER_STATE_H
