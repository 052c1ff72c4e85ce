// SPDX-License-Identifier: BSD-3-Clause
// Where identifiers come from: QPN generations, key tags, first PSNs. Guessable identifiers let a
// stranger write into memory, so the product draws from the kernel's CSPRNG; tests use a script.
#ifndef UROCE_BASE_ID_SOURCE_H
#define UROCE_BASE_ID_SOURCE_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace uroce {

// Control path only (it is virtual and may make a system call). Not thread-safe: its owner locks.
class IdSource {
 public:
  virtual ~IdSource() = default;
  virtual uint32_t next32() = 0;
  // Uniform in [0, bound), bound > 0, without modulo bias.
  uint32_t below(uint32_t bound);
};

// getrandom(2), read in blocks.
class CsprngIdSource final : public IdSource {
 public:
  uint32_t next32() override;

 private:
  std::array<uint32_t, 64> block_{};
  size_t used_ = 64;
};

// A repeatable sequence for tests and the simulator (SplitMix64 from a seed).
class SeededIdSource final : public IdSource {
 public:
  explicit SeededIdSource(uint64_t seed) : state_(seed) {}
  uint32_t next32() override;

 private:
  uint64_t state_;
};

}  // namespace uroce

#endif  // UROCE_BASE_ID_SOURCE_H
