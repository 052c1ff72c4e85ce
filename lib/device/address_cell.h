// SPDX-License-Identifier: BSD-3-Clause
// An address vector that posting threads copy while a control thread may be changing it.
//
// A sequence lock: the writer makes the version odd, stores, makes it even; a reader copies between
// two reads of the version and tries again unless both were the same even number. The words are
// atomics with acquire loads and release stores, which on x86 are plain moves, so a torn copy is
// defined behaviour that is thrown away. Readers never write, so they never disturb each other.
#ifndef UROCE_DEVICE_ADDRESS_CELL_H
#define UROCE_DEVICE_ADDRESS_CELL_H

#include <atomic>
#include <cstdint>
#include <cstring>

#include "transport/address_vector.h"

namespace uroce::device {

class AddressCell {
 public:
  // Writers: one at a time (the device's lock).
  void store(const transport::AddressVector& vector) {
    uint64_t words[kWords];
    std::memcpy(words, &vector, sizeof vector);
    const uint32_t version = version_.load(std::memory_order_relaxed);
    version_.exchange(version + 1, std::memory_order_acq_rel);  // no store below moves above it
    for (unsigned i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }

  // Any thread.
  void load(transport::AddressVector& vector) const {
    uint64_t words[kWords];
    for (;;) {
      const uint32_t before = version_.load(std::memory_order_acquire);
      for (unsigned i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if ((before & 1) == 0 && version_.load(std::memory_order_relaxed) == before) break;
    }
    std::memcpy(&vector, words, sizeof vector);
  }

  // The same where no other thread can be writing.
  void load_exclusive(transport::AddressVector& vector) const {
    std::memcpy(static_cast<void*>(&vector), static_cast<const void*>(words_), sizeof vector);
  }

 private:
  static constexpr unsigned kWords = sizeof(transport::AddressVector) / 8;
  static_assert(sizeof(transport::AddressVector) % 8 == 0);

  std::atomic<uint32_t> version_{0};
  alignas(64) std::atomic<uint64_t> words_[kWords]{};
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_ADDRESS_CELL_H
