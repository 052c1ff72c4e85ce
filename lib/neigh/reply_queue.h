// SPDX-License-Identifier: BSD-3-Clause
// Answers that wait for a transmit slot: a ring of fixed size inside its owner.
#ifndef UROCE_NEIGH_REPLY_QUEUE_H
#define UROCE_NEIGH_REPLY_QUEUE_H

#include <array>
#include <cstddef>

#include "base/assert.h"

namespace uroce::neigh {

template <typename Reply, size_t kCapacity>
class ReplyQueue {
 public:
  // The slot for the next reply, which is then in the queue; nullptr when it is full.
  Reply* push() { return size_ == kCapacity ? nullptr : &replies_[(first_ + size_++) % kCapacity]; }
  const Reply& front() const {
    UROCE_ASSERT(size_ > 0);
    return replies_[first_];
  }
  void pop() {
    UROCE_ASSERT(size_ > 0);
    first_ = (first_ + 1) % kCapacity;
    --size_;
  }
  bool empty() const { return size_ == 0; }

 private:
  std::array<Reply, kCapacity> replies_{};
  size_t first_ = 0;
  size_t size_ = 0;
};

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_REPLY_QUEUE_H
