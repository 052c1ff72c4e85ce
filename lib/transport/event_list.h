// SPDX-License-Identifier: BSD-3-Clause
// Events of an engine that nobody has fetched yet.
//
// An object that has events carries a link, with a bit for each kind that has happened. Raising
// sets the bit and puts the object onto the engine's list, if it is not there: that needs no memory
// and cannot fail, so no event is lost however long nobody fetches. What happens to an object twice
// before it is fetched is told once.
#ifndef UROCE_TRANSPORT_EVENT_LIST_H
#define UROCE_TRANSPORT_EVENT_LIST_H

#include <array>
#include <cstdint>

#include "transport/event.h"

namespace uroce::transport {

// The link of one object (queue pair, shared receive queue, lane of a completion queue). It stays
// where it is as long as it is on a list.
struct EventSource {
  void* object = nullptr;  // goes into the events
  uint32_t pending = 0;    // a bit for each kind
  EventSource* previous = nullptr;
  EventSource* next = nullptr;
};

// One per engine, which is its only user.
class EventList {
 public:
  EventList() = default;
  EventList(const EventList&) = delete;
  EventList& operator=(const EventList&) = delete;

  void raise(EventSource& source, EventType type, void* object);
  // Takes the next event: of the object that waits longest the kind with the lowest number. Notes
  // of connections that gave up come last. False: none.
  bool take(Event& event);
  bool empty() const { return first_ == nullptr && notes_head_ == notes_tail_; }
  // The object is going: its events are taken back.
  void forget(EventSource& source);

  // A note for the log, by value. False: there are too many, and it is lost.
  bool note(const GaveUp& gave_up);

 private:
  static constexpr uint32_t kNotesMax = 64;

  void unlink(EventSource& source);

  EventSource* first_ = nullptr;
  EventSource* last_ = nullptr;
  std::array<GaveUp, kNotesMax> notes_{};
  uint32_t notes_head_ = 0;
  uint32_t notes_tail_ = 0;
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_EVENT_LIST_H
