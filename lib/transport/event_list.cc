// SPDX-License-Identifier: BSD-3-Clause
// Events of an engine that nobody has fetched yet: a doubly linked list of the objects' own links.
#include "transport/event_list.h"

#include <bit>

namespace uroce::transport {
namespace {

// Notifications of completions come behind all asynchronous events, which are numbered below 31.
constexpr uint32_t kCompletionBit = 31;

uint32_t bit_of(EventType type) {
  return 1u << (type == EventType::kCompletion ? kCompletionBit : static_cast<uint32_t>(type));
}

EventType type_of(uint32_t bit) {
  return bit == kCompletionBit ? EventType::kCompletion : static_cast<EventType>(bit);
}

}  // namespace

void EventList::raise(EventSource& source, EventType type, void* object) {
  source.object = object;
  const bool listed = source.pending != 0;
  source.pending |= bit_of(type);
  if (listed) return;
  source.previous = last_;
  source.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &source;
  last_ = &source;
}

bool EventList::take(Event& event) {
  if (first_ != nullptr) {
    EventSource& source = *first_;
    event = {type_of(static_cast<uint32_t>(std::countr_zero(source.pending))), source.object};
    source.pending &= source.pending - 1;
    if (source.pending == 0) unlink(source);
    return true;
  }
  if (notes_head_ == notes_tail_) return false;
  event = {EventType::kGaveUp, nullptr, notes_[notes_head_++ % kNotesMax]};
  return true;
}

void EventList::forget(EventSource& source) {
  if (source.pending == 0) return;
  source.pending = 0;
  unlink(source);
}

bool EventList::note(const GaveUp& gave_up) {
  if (notes_tail_ - notes_head_ == kNotesMax) return false;
  notes_[notes_tail_++ % kNotesMax] = gave_up;
  return true;
}

void EventList::unlink(EventSource& source) {
  (source.previous != nullptr ? source.previous->next : first_) = source.next;
  (source.next != nullptr ? source.next->previous : last_) = source.previous;
  source.previous = source.next = nullptr;
}

}  // namespace uroce::transport
