// SPDX-License-Identifier: BSD-3-Clause
// Control calls into an engine: handing the command over, waiting for it, giving up.
#include "device/engine_call.h"

#include <cerrno>
#include <thread>

namespace uroce::device {
namespace {

using engine::Command;
using engine::DriveMode;
using engine::EngineSeat;

bool done(const Command& command) { return command.done.load(std::memory_order_acquire); }

// Gives the CPU away, for longer the longer it takes: the engine may need this very one.
class Pause {
 public:
  void operator()() {
    if (++turns_ < 50) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  int turns_ = 0;
};

}  // namespace

bool EngineCaller::hand_over(uint32_t engine, Command& command, Time deadline) {
  EngineSeat& seat = *seats_[engine];
  Pause pause;
  switch (seat.mode()) {
    case DriveMode::kInlineExclusive:
      seat.engine().handle_command(now(), command);
      return true;
    case DriveMode::kInlineShared: {
      if (seat.held_by_caller()) {
        seat.engine().handle_command(now(), command);
        return true;
      }
      while (!seat.try_take()) {
        if (now() >= deadline) return false;
        pause();
      }
      seat.engine().handle_command(now(), command);
      seat.give_back();
      return true;
    }
    case DriveMode::kWorker:
      while (!seat.mailbox().push(&command)) {
        if (now() >= deadline) return false;
        pause();
      }
      return true;
  }
  return false;
}

void EngineCaller::wait(uint32_t engine, const Command& command, Time deadline) {
  const DriveMode mode = seats_[engine]->mode();
  Pause pause;
  while (!done(command) && now() < deadline) {
    if (mode != DriveMode::kWorker) driver_.turn(driver_.context, engine);
    // With one thread nobody else needs the CPU, and a simulated clock moves in turn().
    if (mode != DriveMode::kInlineExclusive) pause();
  }
}

int EngineCaller::call(uint32_t engine, const std::shared_ptr<Command>& command, Lock& lock,
                       Duration limit, bool unlocked, const std::shared_ptr<void>& lent) {
  const Time deadline = now() + limit;
  // Not handed over: nobody else knows of the command, so nothing has to be kept.
  if (!hand_over(engine, *command, deadline)) return -ETIMEDOUT;
  if (!done(*command)) {
    const bool give_up_lock = unlocked || seats_[engine]->mode() != DriveMode::kWorker;
    if (give_up_lock) lock.unlock();
    wait(engine, *command, deadline);
    if (give_up_lock) lock.lock();
  }
  if (done(*command)) return command->result;
  abandoned_.push_back(command);
  if (lent != nullptr) abandoned_.push_back(lent);
  return -ETIMEDOUT;
}

int EngineCaller::call_or_withdraw(uint32_t engine, const std::shared_ptr<Command>& command,
                                   Lock& lock, Duration limit) {
  const int error = call(engine, command, lock, limit);
  if (error != -ETIMEDOUT || command->claim()) return error;
  // The engine is in the middle of it: as with a lock, over in microseconds unless its thread
  // stands still right there, and a limit would leave us not knowing what is.
  Pause pause;
  while (!done(*command)) pause();
  return command->result;
}

void EngineCaller::turn_all() {
  for (uint32_t i = 0; i < seats_.size(); ++i) driver_.turn(driver_.context, i);
}

int EngineCaller::wait_grace_period(Duration limit) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Time deadline = now() + limit;
  for (EngineSeat* seat : seats_) {
    // This thread drives the engine itself: it is between two inputs, where nothing is in use.
    if (seat->mode() == DriveMode::kInlineExclusive || seat->held_by_caller()) continue;
    const uint64_t snapshot = seat->epoch().snapshot();
    Pause pause;
    while (!seat->epoch().quiet_since(snapshot)) {
      if (now() >= deadline) return -ETIMEDOUT;
      pause();
    }
  }
  return 0;
}

}  // namespace uroce::device
