// SPDX-License-Identifier: BSD-3-Clause
// The XRC shared receive queues of one engine, by the number that requests name.
#ifndef UROCE_TRANSPORT_XRC_QUEUE_TABLE_H
#define UROCE_TRANSPORT_XRC_QUEUE_TABLE_H

#include <array>
#include <cstdint>

#include "transport/shared_receive_queue.h"

namespace uroce::transport {

// A number is made like a key: an index 1 … kQueuesMax, and below it a random tag of 8 bits, so
// that the number of a queue that has gone is not soon another's.
class XrcQueueTable {
 public:
  static constexpr uint32_t kQueuesMax = 1023;

  static constexpr uint32_t index_of(uint32_t number) { return number >> 8; }

  // srq.number is set, its index is free.
  void add(SharedReceiveQueue& srq) { by_index_[index_of(srq.number)] = &srq; }
  void remove(const SharedReceiveQueue& srq) { by_index_[index_of(srq.number)] = nullptr; }
  // nullptr: none of this engine has that number.
  SharedReceiveQueue* find(uint32_t number) const {
    if (index_of(number) > kQueuesMax) return nullptr;
    SharedReceiveQueue* const srq = by_index_[index_of(number)];
    return srq != nullptr && srq->number == number ? srq : nullptr;
  }

 private:
  std::array<SharedReceiveQueue*, kQueuesMax + 1> by_index_{};
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_XRC_QUEUE_TABLE_H
