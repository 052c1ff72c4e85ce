// SPDX-License-Identifier: BSD-3-Clause
// The progress thread: drives the engines when the application does not.
//
// Programs spin on memory, spin on ibv_poll_cq(), or sleep in ibv_get_cq_event(). Pollers drive the
// engines themselves, and then this thread has nothing to find: the longer it finds nothing, the
// longer it sleeps between two looks. While it moves packets it stays awake. It never yields its
// CPU: beside a spinning application that would cost a whole time slice, where a thread that wakes
// from a short sleep is let in at once.
#ifndef UROCE_IBVERBS_PROGRESS_H
#define UROCE_IBVERBS_PROGRESS_H

#include <atomic>
#include <cstdint>

#include "base/types.h"

namespace uroce::ibverbs {

struct Pace {
  static constexpr Duration kSleepMin{20'000};

  Duration spin{};       // no sleep for so long after the last packet
  Duration sleep_max{};  // between two looks

  // How long to sleep after a look that found nothing, the last find being `idle` ago. `others`:
  // somebody else has driven the engines since the look before. `to_timer`: until an engine wants
  // to be driven. 0: look again at once.
  Duration pause(Duration idle, bool others, Duration to_timer) const;
};

// What the thread drives. Time is the driver's own.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual Time now() const = 0;
  // Packets moved; `next`: when an engine wants to be driven at the latest.
  virtual uint32_t drive(Time& next) = 0;
  virtual uint64_t turns() const = 0;  // so far, whoever drove
  virtual void sleep(Duration length) = 0;
};

class Progress {
 public:
  // `driver` outlives it.
  Progress(Driver& driver, const Pace& pace) : driver_(driver), pace_(pace) {}

  // The thread: returns after stop(), within two sleeps.
  void run();
  void stop() { stopping_.store(true, std::memory_order_release); }  // any thread

  // One look and the sleep after it.
  void step();

 private:
  Driver& driver_;
  const Pace pace_;
  std::atomic<bool> stopping_{false};
  Time last_find_{};
  uint64_t turns_ = 0;
};

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_PROGRESS_H
