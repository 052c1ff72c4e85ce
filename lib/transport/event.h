// SPDX-License-Identifier: BSD-3-Clause
// Events that an engine has for the outside: CQ notifications and asynchronous events.
#ifndef UROCE_TRANSPORT_EVENT_H
#define UROCE_TRANSPORT_EVENT_H

#include <cstdint>

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
  kGidChange = 18,
  kCompletion = 100,  // an armed CQ has a completion: object is CompletionQueue::user
};

struct Event {
  EventType type;
  void* object;  // QpContext::user or CompletionQueue::user; nullptr for port events
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_EVENT_H
