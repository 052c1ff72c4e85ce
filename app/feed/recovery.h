// SPDX-License-Identifier: BSD-3-Clause
// Fetches lost messages out of the exchange's history by RC READ.
#ifndef UROCE_APP_FEED_RECOVERY_H
#define UROCE_APP_FEED_RECOVERY_H

#include <uroce/multicast.h>

#include <cstdint>

#include "channel.h"
#include "protocol.h"

namespace uroce::market {

class Recovery {
 public:
  static constexpr uint32_t kReadMessagesMax = 64;  // that one READ brings
  static constexpr uint32_t kReads = 4;             // under way at once
  static constexpr uint32_t kLandingBytes = kReads * kReadMessagesMax * sizeof(Message);

  // Messages in consecutive slots that one READ asks for.
  struct Piece {
    uint64_t first = 0;
    uint32_t count = 0;
    uint64_t number = 0;  // of the request
  };

  // `link`: a connection to the exchange, with a landing area of kLandingBytes.
  explicit Recovery(Channel& link) : link_(link) {}

  void start(const Welcome& history) { history_ = history; }
  bool is_idle() const { return range_.count == 0 && posted_ == taken_; }
  // Takes a range; only when wants_range().
  bool wants_range() const { return range_.count == 0; }
  void ask(const uroce_feed_range& range) { range_ = range; }
  // Posts the READs for which there is room.
  void step();
  // The oldest READ that has brought its messages, or nullptr. read(): one of them, as it was in
  // its slot; by now it may be a later one. pop() frees the place.
  const Piece* finished() const;
  Message read(const Piece& piece, uint32_t index) const;
  void pop() { ++taken_; }

 private:
  Channel& link_;
  Welcome history_{};
  uroce_feed_range range_{};  // what is left to ask for
  Piece pieces_[kReads];
  uint64_t posted_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_RECOVERY_H
