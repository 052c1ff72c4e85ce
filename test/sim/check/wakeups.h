// SPDX-License-Identifier: BSD-3-Clause
// Checker "wakeups": who armed a completion queue is woken by what it waits for, and by nothing
// else. The application looks now and then without having been woken, and judges what it finds.
#ifndef UROCE_TEST_SIM_CHECK_WAKEUPS_H
#define UROCE_TEST_SIM_CHECK_WAKEUPS_H

#include <functional>

#include "test/sim/plan.h"
#include "test/sim/verdict.h"

namespace uroce::sim {

// A completion queue as an application uses it.
class WatchedCq {
 public:
  // Handles a completion; true: it is one that a queue armed for solicited ones must wake for.
  using Taker = std::function<bool(const ib_wc&)>;

  WatchedCq(Host& host, uint32_t entries, Wake wake);
  ~WatchedCq();
  WatchedCq(const WatchedCq&) = delete;
  WatchedCq& operator=(const WatchedCq&) = delete;

  // What it held has been taken away: a wake-up for that may still be on its way.
  void forget();
  ib_cq* cq() const { return cq_; }
  // While it is in use, at least the `entries` that it was made with.
  void resize(uint32_t entries);
  // As rdma_set_cq_moderation(): a period of 0 ends it.
  void moderate(Time now, uint16_t count, uint16_t period_us);
  // Takes what it may know of, or all of it with `regardless`.
  void serve(Time now, bool regardless, const Taker& take, Verdict& verdict);

 private:
  static constexpr Duration kSweep{1'000'000};
  bool poll(const Taker& take, Verdict& verdict, size_t& count);
  void sweep(const Taker& take, Verdict& verdict);

  ib_cq* cq_ = nullptr;
  const Wake wake_;
  bool moderated_ = false;
  bool armed_ = false;
  bool notified_ = false;
  bool forgiven_ = false;  // one wake-up for nothing
  Time next_sweep_{};
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_WAKEUPS_H
