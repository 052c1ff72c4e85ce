// SPDX-License-Identifier: BSD-3-Clause
// Events that an engine has for the outside: CQ notifications and asynchronous events.
#ifndef UROCE_TRANSPORT_EVENT_H
#define UROCE_TRANSPORT_EVENT_H

#include <cstdint>

#include "base/types.h"

namespace uroce::transport {

// Values below 100 are those of ib_event_type.
enum class EventType : uint8_t {
  kCqErr = 0,
  kQpFatal = 1,
  kQpReqErr = 2,
  kQpAccessErr = 3,
  kCommEst = 4,
  kSqDrained = 5,
  kPortActive = 9,
  kPortErr = 10,
  kSrqErr = 14,
  kSrqLimitReached = 15,
  kQpLastWqeReached = 16,
  kGidChange = 18,
  kCompletion = 100,  // an armed CQ has a completion: object is CompletionQueue::user
  kGaveUp = 101,      // a connection's retries are used up: for the log, not for a handler
};

// What a connection that gave up leaves behind. By value: the queue pair may be gone when it is
// read.
struct GaveUp {
  Time when{};
  Gid peer;
  Qpn qpn;
  Qpn peer_qpn;
  Psn psn;                  // that nobody acknowledged, or that the peer had no receive for
  bool not_ready = false;   // rnr_retry ran out; else retry_cnt
  uint8_t retry_count = 0;  // attributes of the queue pair
  uint8_t rnr_retry = 0;
  uint8_t timeout = 0;
};

struct Event {
  EventType type;
  void* object;  // QpContext::user or CompletionQueue::user; nullptr for port events and kGaveUp
  GaveUp gave_up{};  // kGaveUp only
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_EVENT_H
