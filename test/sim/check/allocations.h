// SPDX-License-Identifier: BSD-3-Clause
// Checker "allocations": after start an engine allocates nothing. Counts what operator new hands
// out while a watch is open; the counting operators are in allocations.cc.
#ifndef UROCE_TEST_SIM_CHECK_ALLOCATIONS_H
#define UROCE_TEST_SIM_CHECK_ALLOCATIONS_H

#include <cstdint>

#include "test/sim/verdict.h"
#include "test/sim/world.h"

namespace uroce::sim {

// Allocations of this thread so far.
uint64_t allocations_so_far();
// Those of them that were not freed: by any thread.
int64_t allocations_alive();

// Adds to `sum` what is allocated during its life.
class AllocationWatch {
 public:
  explicit AllocationWatch(uint64_t& sum) : sum_(sum), before_(allocations_so_far()) {}
  ~AllocationWatch() { sum_ += allocations_so_far() - before_; }
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;

 private:
  uint64_t& sum_;
  const uint64_t before_;
};

void check_allocations(Host& host, Verdict& verdict);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_ALLOCATIONS_H
