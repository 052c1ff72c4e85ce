// SPDX-License-Identifier: BSD-3-Clause
// Two programs measured by turns, so that a machine that changes its speed changes both.
//
// A side has round(burst), which does `burst` units of work and returns how many messages that
// were, and check(), whether the last of them arrived.
//
// What is counted is the thread's own CPU time: on a machine that does other things too, a side
// whose rounds are longer would else be interrupted more often, and seem slower than it is.
#ifndef UROCE_TEST_PERF_SIDE_BY_SIDE_H
#define UROCE_TEST_PERF_SIDE_BY_SIDE_H

#include <cstdint>
#include <ctime>
#include <stdexcept>

#include "test/perf/table.h"

namespace uroce::perf {

inline double thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

struct Effort {
  uint32_t rounds;
  uint32_t bursts_per_round;
  uint32_t burst;
};

// One side's share of a round, after some bursts that are not measured, in which it takes the
// caches back from the other side: ns for each message.
template <typename Side>
double measure(Side& side, const Effort& effort) {
  for (uint32_t i = 0; i <= effort.bursts_per_round / 10; ++i) side.round(effort.burst);
  uint64_t messages = 0;
  const double start = thread_cpu_ns();
  for (uint32_t i = 0; i < effort.bursts_per_round; ++i) messages += side.round(effort.burst);
  return (thread_cpu_ns() - start) / static_cast<double>(messages);
}

// `other`: nullptr when there is nothing to compare with. Throws when messages did not arrive.
template <typename Product, typename Other>
Row side_by_side(Product& product, Other* other, const Effort& effort) {
  measure(product, effort);  // warm
  if (other != nullptr) measure(*other, effort);
  Rounds rounds;
  for (uint32_t round = 0; round < effort.rounds; ++round) {
    if (other != nullptr) rounds.beside_ns.push_back(measure(*other, effort));
    rounds.ns.push_back(measure(product, effort));
  }
  if (!product.check() || (other != nullptr && !other->check())) {
    throw std::runtime_error("the data did not arrive");
  }
  return summarize(rounds);
}

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_SIDE_BY_SIDE_H
