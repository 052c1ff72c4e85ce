// SPDX-License-Identifier: BSD-3-Clause
// The messages that a feed still knows about: a run of consecutive sequence numbers, and for each
// who brought it and when.
//
// Numbers enter at the end, when a packet carries them or lies behind them, and leave at the
// beginning, when there is no room. Not known are both what has not come yet and what has left.
#ifndef UROCE_FEED_WINDOW_H
#define UROCE_FEED_WINDOW_H

#include <uroce/multicast.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace uroce::feed {

struct Message {
  uint64_t time_ns;  // of the first copy; while there is none, when it was found missing
  uint64_t arrival;  // the packet that brought the first copy
  uint64_t sides;    // a bit for each side that brought it, and kGivenUp
};

// Its loss on both sides was reported; copies may still come, for the account of their side.
inline constexpr uint64_t kGivenUp = uint64_t{1} << UROCE_FEED_SIDES;

class Window {
 public:
  // `room` entries, a power of two.
  Window(std::unique_ptr<Message[]> messages, uint32_t room)
      : messages_(std::move(messages)), mask_(room - 1) {}

  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  bool empty() const { return begin_ == end_; }
  uint64_t size() const { return end_ - begin_; }
  bool full() const { return size() == room(); }
  uint64_t room() const { return mask_ + 1; }
  bool knows(uint64_t sequence) const { return sequence - begin_ < end_ - begin_; }

  // Of a number that is known.
  Message& operator[](uint64_t sequence) { return messages_[sequence & mask_]; }
  const Message& operator[](uint64_t sequence) const { return messages_[sequence & mask_]; }

  // The next number enters, as missing. There is room.
  void enter(uint64_t now_ns) { messages_[end_++ & mask_] = {now_ns, 0, 0}; }
  // The oldest leaves; its entry is valid until the next enters.
  const Message& leave() { return messages_[begin_++ & mask_]; }
  // Knows nothing, and goes on at a number.
  void restart(uint64_t sequence) { begin_ = end_ = sequence; }

 private:
  std::unique_ptr<Message[]> messages_;
  uint64_t mask_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

}  // namespace uroce::feed

#endif  // UROCE_FEED_WINDOW_H
