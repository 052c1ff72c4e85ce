// SPDX-License-Identifier: BSD-3-Clause
// Ranges that were lost on both sides, until the application asks for them: a bounded queue in
// which neighbours become one range.
#ifndef UROCE_FEED_LOST_RANGES_H
#define UROCE_FEED_LOST_RANGES_H

#include <uroce/multicast.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace uroce::feed {

class LostRanges {
 public:
  // Room for `room` ranges, at least one.
  LostRanges(std::unique_ptr<uroce_feed_range[]> ranges, uint32_t room)
      : ranges_(std::move(ranges)), room_(room) {}

  // `first` is behind all that was added before. False: there is no room.
  bool add(uint64_t first, uint64_t count) {
    if (size_ != 0) {
      uroce_feed_range& newest = ranges_[(begin_ + size_ - 1) % room_];
      if (newest.first + newest.count == first) {
        newest.count += count;
        return true;
      }
    }
    if (size_ == room_) return false;
    ranges_[(begin_ + size_++) % room_] = {first, count};
    return true;
  }
  // The oldest; false when there is none.
  bool take(uroce_feed_range& range) {
    if (size_ == 0) return false;
    range = ranges_[begin_];
    begin_ = (begin_ + 1) % room_;
    --size_;
    return true;
  }
  // Drops all; returns how many messages that were.
  uint64_t clear() {
    uint64_t messages = 0;
    uroce_feed_range range{};
    while (take(range)) messages += range.count;
    return messages;
  }

 private:
  std::unique_ptr<uroce_feed_range[]> ranges_;
  size_t room_;
  size_t begin_ = 0;
  size_t size_ = 0;
};

}  // namespace uroce::feed

#endif  // UROCE_FEED_LOST_RANGES_H
