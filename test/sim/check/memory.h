// SPDX-License-Identifier: BSD-3-Clause
// Checker "memory": a second copy of an application's memory, as it must be. Every byte counts,
// those between the buffers and around the regions as well.
//
// What the application does itself is certain at once. A peer's WRITE is announced when it is
// posted, and confirmed when something shows that it was executed: its completion, or that of
// anything behind it. Until then a byte may be as before or as any announced WRITE leaves it.
#ifndef UROCE_TEST_SIM_CHECK_MEMORY_H
#define UROCE_TEST_SIM_CHECK_MEMORY_H

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace uroce::sim {

class Shadow {
 public:
  // `memory` as it is now is right.
  explicit Shadow(std::span<const uint8_t> memory);

  // These bytes are certain from now on.
  void set(uint32_t offset, std::span<const uint8_t> bytes);
  void set_from_memory(uint32_t offset, uint32_t length);
  // These may be anything until they are set.
  void doubt(uint32_t offset, uint32_t length);

  // Returns how many were announced before and with it.
  uint64_t announce(uint32_t offset, std::vector<uint8_t> bytes);
  // The first `count` of all announced have been executed.
  void confirm(uint64_t count);
  // The first `count` of all announced will not come any more: each was executed, in part or whole,
  // or lost. A sentence about the first byte that none of this explains.
  std::string give_up(uint64_t count);
  // Announced WRITEs that are not confirmed will not come any more: what they have left is right.
  void settle();

  // Compares a range, or all of it: empty, or a sentence about the first wrong byte.
  std::string compare(uint32_t offset, uint32_t length) const;
  std::string compare() const;

 private:
  struct Announced {
    uint32_t offset;
    std::vector<uint8_t> bytes;
  };
  bool explained(uint32_t at) const;

  std::span<const uint8_t> memory_;
  std::vector<uint8_t> certain_;
  std::map<uint32_t, uint32_t> doubts_;  // offset to length
  std::deque<Announced> open_;
  uint64_t announced_ = 0;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_MEMORY_H
