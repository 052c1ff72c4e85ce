// SPDX-License-Identifier: BSD-3-Clause
// Control calls into an engine, according to who drives it, and waiting for grace periods.
//
// Worker mode: the command goes through the seat's mailbox and the caller waits. Inline exclusive:
// the caller is the one thread, so the command is executed in place. Inline shared: the caller
// takes the baton and executes it, or holds it already (a handler inside a turn) and does so in
// place. A command that is not done at once (resolving an address) is waited for by running turns
// of the loop. So none can deadlock, and every wait has a limit and an error.
#ifndef UROCE_DEVICE_ENGINE_CALL_H
#define UROCE_DEVICE_ENGINE_CALL_H

#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/types.h"
#include "engine/command.h"
#include "engine/seat.h"

namespace uroce::device {

// An engine that does not answer within this time is stuck or has no driver.
inline constexpr Duration kEngineCallLimit = std::chrono::seconds(5);

// One per device. Every call: with the device's lock held, which is given up while a turn of the
// loop is run (it may call handlers, which may make control calls) and, when asked, while waiting.
class EngineCaller {
 public:
  using Lock = std::unique_lock<std::mutex>;

  EngineCaller(std::span<engine::EngineSeat* const> seats, const engine::EngineDriver& driver)
      : seats_(seats.begin(), seats.end()), driver_(driver) {}

  size_t engine_count() const { return seats_.size(); }
  engine::EngineSeat& seat(uint32_t engine) { return *seats_[engine]; }
  Time now() const { return driver_.now(driver_.context); }

  // Returns the command's result, or -ETIMEDOUT when it is not done within `limit`. A command that
  // timed out may still be executed later: it, and `lent`, the memory that went with it, are then
  // kept until the device goes. `unlocked`: other control calls may run meanwhile.
  int call(uint32_t engine, const std::shared_ptr<engine::Command>& command, Lock& lock,
           Duration limit = kEngineCallLimit, bool unlocked = false,
           const std::shared_ptr<void>& lent = nullptr);

  // For a command that the engine finishes at once when it comes to it (all but kResolve and
  // kDestroyQp): after -ETIMEDOUT nothing has changed, and nothing will.
  int call_or_withdraw(uint32_t engine, const std::shared_ptr<engine::Command>& command, Lock& lock,
                       Duration limit = kEngineCallLimit);

  // The same as call() on each engine in turn; stops at the first error. `make` gives the command.
  template <typename Make>
  int call_all(Lock& lock, Make make) {
    for (uint32_t i = 0; i < seats_.size(); ++i) {
      if (const int error = call(i, make(), lock); error != 0) return error;
    }
    return 0;
  }

  // Inline modes: one turn of every loop, for a caller that waits for something else. Without the
  // device's lock.
  void turn_all();

  // Returns 0 when every engine has passed the point at which it could still use what the caller
  // unpublished before; -ETIMEDOUT when one did not within the limit.
  int wait_grace_period(Duration limit = kEngineCallLimit);

 private:
  bool hand_over(uint32_t engine, engine::Command& command, Time deadline);
  void wait(uint32_t engine, const engine::Command& command, Time deadline);

  const std::vector<engine::EngineSeat*> seats_;
  const engine::EngineDriver driver_;
  std::vector<std::shared_ptr<void>> abandoned_;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_ENGINE_CALL_H
