// SPDX-License-Identifier: BSD-3-Clause
// What a responder thinks of a request packet before it acts on it.
#ifndef UROCE_TRANSPORT_JUDGEMENT_H
#define UROCE_TRANSPORT_JUDGEMENT_H

#include <cstdint>

#include "transport/responder_state.h"
#include "wire/opcode.h"

namespace uroce::transport {

enum class Verdict : uint8_t {
  kTake,
  kNotReady,        // no receive WQE: RNR NAK
  kInvalidRequest,  // NAK 0x61
  kTooLong,         // SEND longer than its receive buffer: NAK 0x61
  kAccess,          // R_Key: NAK 0x62
  kBadBuffer,       // L_Key of the receive WQE: NAK 0x63
};

struct Plan {
  Verdict verdict;
  bool uses_wqe = false;  // the receive WQE at the consumer index belongs to this message
  uint8_t* to = nullptr;  // WRITE: where the payload goes; atomics: the word
};

// After a FIRST or MIDDLE only the next part of the same operation, otherwise only a beginning.
// `flags`: of the packet's opcode.
constexpr bool in_sequence(MessageInProgress message, uint32_t flags) {
  const bool continues = (flags & (wire::kMiddle | wire::kLast)) != 0;
  switch (message) {
    case MessageInProgress::kNone:
      return !continues;
    case MessageInProgress::kSend:
      return continues && (flags & wire::kSend) != 0;
    case MessageInProgress::kWrite:
      return continues && (flags & wire::kWrite) != 0;
  }
  return false;
}

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_JUDGEMENT_H
