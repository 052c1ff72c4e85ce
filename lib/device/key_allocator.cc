// SPDX-License-Identifier: BSD-3-Clause
// Which keys are handed out: the shuffle, the ring and the tags.
#include "device/key_allocator.h"

#include <numeric>
#include <utility>

#include "base/assert.h"

namespace uroce::device {

KeyAllocator::KeyAllocator(uint32_t capacity, IdSource& ids)
    : ids_(ids), ring_(capacity), last_tag_(size_t{capacity} + 1), count_(capacity) {
  std::iota(ring_.begin(), ring_.end(), 1u);
  for (uint32_t i = capacity; i > 1; --i) std::swap(ring_[i - 1], ring_[ids_.below(i)]);
  for (uint8_t& tag : last_tag_) tag = static_cast<uint8_t>(ids_.next32());
}

std::optional<Key> KeyAllocator::take() {
  if (count_ == 0) return std::nullopt;
  const uint32_t index = ring_[head_];
  head_ = (head_ + 1) % static_cast<uint32_t>(ring_.size());
  --count_;
  // One of the 255 other tags.
  last_tag_[index] = static_cast<uint8_t>(last_tag_[index] + 1 + ids_.below(255));
  return Key(index << 8 | last_tag_[index]);
}

void KeyAllocator::give(Key key) {
  UROCE_ASSERT(count_ < ring_.size());
  ring_[(head_ + count_) % ring_.size()] = key.index();
  last_tag_[key.index()] = key.tag();
  ++count_;
}

}  // namespace uroce::device
