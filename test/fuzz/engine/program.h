// SPDX-License-Identifier: BSD-3-Clause
// A fuzzer's input read as a program: numbers, one after the other, and zeros behind its end.
#ifndef UROCE_TEST_FUZZ_ENGINE_PROGRAM_H
#define UROCE_TEST_FUZZ_ENGINE_PROGRAM_H

#include <algorithm>
#include <cstdint>
#include <span>

namespace uroce::fuzz {

class Program {
 public:
  explicit Program(std::span<const uint8_t> input) : left_(input) {}

  bool done() const { return left_.empty(); }
  uint8_t byte() {
    if (left_.empty()) return 0;
    const uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  uint16_t word() {
    const auto high = static_cast<unsigned>(byte()) << 8;
    return static_cast<uint16_t>(high | byte());
  }
  uint32_t number() {
    const auto high = uint32_t{word()} << 16;
    return high | word();
  }
  int8_t offset() { return static_cast<int8_t>(byte()); }
  int16_t far_offset() { return static_cast<int16_t>(word()); }
  // At most `count` bytes as they lie in the input.
  std::span<const uint8_t> bytes(size_t count) {
    const auto taken = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const uint8_t> left_;
};

}  // namespace uroce::fuzz

#endif  // UROCE_TEST_FUZZ_ENGINE_PROGRAM_H
