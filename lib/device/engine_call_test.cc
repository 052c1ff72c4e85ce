// SPDX-License-Identifier: BSD-3-Clause
// Tests of control calls in the three ways that an engine can be driven, real threads included.
#include "device/engine_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>

namespace uroce::device {
namespace {

using engine::BarrierCommand;
using engine::Command;
using engine::DriveMode;
using engine::EngineSeat;
using engine::ResolveCommand;
using std::chrono::milliseconds;

class EngineCall : public testing::Test {
 protected:
  explicit EngineCall(DriveMode mode) : keys_(4) {
    shared_.keys = &keys_;
    shared_.qp_slots_per_engine = 4;
    shared_.groups = std::make_unique<engine::GroupPresence>(1, 1);
    engine::EngineConfig config;
    config.shared = &shared_;
    config.exclusive = mode == DriveMode::kInlineExclusive;
    seat_ = std::make_unique<EngineSeat>(config, mode);
    seats_[0] = seat_.get();
  }
  // Time is the host's clock here: two of the modes have real threads.
  static Time now(void*) { return Time(std::chrono::steady_clock::now().time_since_epoch()); }
  static void turn(void* self, uint32_t) { ++static_cast<EngineCall*>(self)->turns_; }
  engine::EngineDriver driver() { return {&now, &turn, this}; }

  memory::KeyTable keys_;
  engine::DeviceShared shared_;
  std::unique_ptr<EngineSeat> seat_;
  EngineSeat* seats_[1] = {};
  std::atomic<int> turns_{0};
  std::mutex device_lock_;
};

class ExclusiveCall : public EngineCall {
 protected:
  ExclusiveCall() : EngineCall(DriveMode::kInlineExclusive) {}
};

TEST_F(ExclusiveCall, IsExecutedInPlace) {
  EngineCaller caller(seats_, driver());
  EngineCaller::Lock lock(device_lock_);
  EXPECT_EQ(caller.call(0, std::make_shared<BarrierCommand>(), lock), 0);
  EXPECT_EQ(turns_, 0);
  EXPECT_EQ(caller.wait_grace_period(), 0);
}

TEST_F(ExclusiveCall, ThatIsNotDoneAtOnceRunsTurnsWithoutTheLockUntilTheLimit) {
  EngineCaller caller(seats_, driver());
  EngineCaller::Lock lock(device_lock_);
  auto command = std::make_shared<ResolveCommand>();
  command->destination = Gid::from_ipv4(0x0A000002);
  const int error = caller.call(0, command, lock, milliseconds(20), true);
  EXPECT_LT(error, 0);
  EXPECT_TRUE(lock.owns_lock());
  if (error == -ETIMEDOUT) {
    EXPECT_GT(turns_, 0);
  }
}

class SharedCall : public EngineCall {
 protected:
  SharedCall() : EngineCall(DriveMode::kInlineShared) {}
};

TEST_F(SharedCall, TakesTheBatonAndGivesItBack) {
  EngineCaller caller(seats_, driver());
  EngineCaller::Lock lock(device_lock_);
  EXPECT_EQ(caller.call(0, std::make_shared<BarrierCommand>(), lock), 0);
  ASSERT_TRUE(seat_->try_take());
  EXPECT_TRUE(seat_->held_by_caller());
  EXPECT_EQ(caller.call(0, std::make_shared<BarrierCommand>(), lock), 0) << "a handler in a turn";
  EXPECT_TRUE(seat_->held_by_caller());
  seat_->epoch().begin_turn(false);
  EXPECT_EQ(caller.wait_grace_period(milliseconds(10)), 0) << "its own turn is not waited for";
  seat_->epoch().end_turn();
  seat_->give_back();
  EXPECT_FALSE(seat_->held_by_caller());
}

TEST_F(SharedCall, WhenAnotherThreadHoldsTheBatonFailsInTimeOrWaits) {
  EngineCaller caller(seats_, driver());
  EngineCaller::Lock lock(device_lock_);
  std::atomic<int> step{0};
  std::thread other([&] {
    ASSERT_TRUE(seat_->try_take());
    step = 1;
    while (step != 2) std::this_thread::yield();
    seat_->give_back();
  });
  while (step != 1) std::this_thread::yield();
  EXPECT_FALSE(seat_->held_by_caller());
  EXPECT_EQ(caller.call(0, std::make_shared<BarrierCommand>(), lock, milliseconds(5)), -ETIMEDOUT);
  step = 2;
  EXPECT_EQ(caller.call(0, std::make_shared<BarrierCommand>(), lock), 0);
  other.join();
}

class WorkerCall : public EngineCall {
 protected:
  WorkerCall() : EngineCall(DriveMode::kWorker) {}
};

TEST_F(WorkerCall, GoesThroughTheMailbox) {
  EngineCaller caller(seats_, driver());
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    while (!stop) {
      seat_->epoch().begin_turn(false);
      Command* command = nullptr;
      while (seat_->mailbox().pop(command)) seat_->engine().handle_command(now(nullptr), *command);
      seat_->epoch().end_turn();
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 200; ++i) {
    EngineCaller::Lock lock(device_lock_);
    EXPECT_EQ(caller.call(0, std::make_shared<BarrierCommand>(), lock), 0);
    EXPECT_EQ(caller.wait_grace_period(), 0);
  }
  stop = true;
  worker.join();
  EXPECT_EQ(turns_, 0);
}

TEST_F(WorkerCall, ToAWorkerThatDoesNotAnswerFailsInTimeAndKeepsWhatWasLent) {
  auto lent = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = lent;
  auto command = std::make_shared<BarrierCommand>();
  const std::weak_ptr<BarrierCommand> watched = command;
  {
    EngineCaller caller(seats_, driver());
    EngineCaller::Lock lock(device_lock_);
    EXPECT_EQ(caller.call(0, command, lock, milliseconds(5), false, lent), -ETIMEDOUT);
    lent.reset();
    command.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_FALSE(watched.expired()) << "the worker may still come to it";
    seat_->epoch().begin_turn(false);
    EXPECT_EQ(caller.wait_grace_period(milliseconds(5)), -ETIMEDOUT);
    seat_->epoch().end_turn();
    EXPECT_EQ(caller.wait_grace_period(milliseconds(5)), 0);
  }
  EXPECT_TRUE(watch.expired());
}

TEST_F(WorkerCall, ThatIsWithdrawnIsNotCarriedOutLater) {
  EngineCaller caller(seats_, driver());
  EngineCaller::Lock lock(device_lock_);
  auto command = std::make_shared<BarrierCommand>();
  EXPECT_EQ(caller.call_or_withdraw(0, command, lock, milliseconds(5)), -ETIMEDOUT);
  Command* late = nullptr;
  ASSERT_TRUE(seat_->mailbox().pop(late));
  ASSERT_EQ(late, command.get());
  seat_->engine().handle_command(now(nullptr), *late);
  EXPECT_FALSE(command->done);
}

TEST_F(WorkerCall, ThatTheEngineHasBegunIsWaitedForBeyondTheLimit) {
  EngineCaller caller(seats_, driver());
  EngineCaller::Lock lock(device_lock_);
  auto command = std::make_shared<BarrierCommand>();
  ASSERT_TRUE(command->claim());
  const Time end = now(nullptr) + milliseconds(100);
  std::thread worker([&] {
    while (now(nullptr) < end) std::this_thread::yield();
    command->finish(-ENOMEM);
  });
  EXPECT_EQ(caller.call_or_withdraw(0, command, lock, milliseconds(5)), -ENOMEM);
  worker.join();
}

TEST_F(WorkerCall, ToAFullMailboxFailsInTime) {
  EngineCaller caller(seats_, driver());
  BarrierCommand filler;
  while (seat_->mailbox().push(&filler)) {
  }
  EngineCaller::Lock lock(device_lock_);
  EXPECT_EQ(caller.call(0, std::make_shared<BarrierCommand>(), lock, milliseconds(5)), -ETIMEDOUT);
}

}  // namespace
}  // namespace uroce::device
