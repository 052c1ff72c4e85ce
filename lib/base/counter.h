// SPDX-License-Identifier: BSD-3-Clause
// A counter with one writer and any number of readers: a plain add for the writer, no lock.
#ifndef UROCE_BASE_COUNTER_H
#define UROCE_BASE_COUNTER_H

#include <atomic>
#include <cstdint>

namespace uroce {

class Counter {
 public:
  void add(uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void operator++() { add(); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace uroce

#endif  // UROCE_BASE_COUNTER_H
