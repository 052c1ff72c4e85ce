// SPDX-License-Identifier: BSD-3-Clause
// Which keys are handed out: a table index that nobody uses, and a random tag.
//
// The free indexes lie in a ring, shuffled once; a returned one goes to its end. So keys cannot be
// guessed from other keys, a retired index rests as long as possible, and its next tag is always
// another one: a retired key is never valid at once again.
#ifndef UROCE_DEVICE_KEY_ALLOCATOR_H
#define UROCE_DEVICE_KEY_ALLOCATOR_H

#include <cstdint>
#include <optional>
#include <vector>

#include "base/id_source.h"
#include "base/types.h"

namespace uroce::device {

class KeyAllocator {
 public:
  // Indexes 1 … capacity.
  KeyAllocator(uint32_t capacity, IdSource& ids);

  // Nothing: all are in use.
  std::optional<Key> take();
  // `key`: the last that the index went by; its owner may have changed the tag.
  void give(Key key);
  uint32_t free_count() const { return count_; }

 private:
  IdSource& ids_;
  std::vector<uint32_t> ring_;
  std::vector<uint8_t> last_tag_;  // by index
  uint32_t head_ = 0;
  uint32_t count_;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_KEY_ALLOCATOR_H
