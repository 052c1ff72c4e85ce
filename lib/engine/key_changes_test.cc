// SPDX-License-Identifier: BSD-3-Clause
// Keys that work requests take back, in a device with two engines.
#include <gtest/gtest.h>

#include "engine/wire_fixture.h"

namespace uroce::engine {
namespace {

class KeyChanges : public ::testing::Test {
 protected:
  static constexpr Key kFast{0x0510};

  KeyChanges() : qp(device.create(QpType::kRc, 0)), peer(device.create(QpType::kRc, 1)) {
    device.shared.epochs = {&epochs[0], &epochs[1]};
    device.keys.open(kFast, memory::KeyKind::kFastRegion, TestDevice::kPd);
    connect(*qp, *peer);
    settle();
  }
  void settle() {
    for (int i = 0; i < 20; ++i) {
      device.turn();
      device.now += std::chrono::microseconds(10);
    }
  }
  void post_local(transport::WrOpcode opcode, const transport::LocalOperation& operation,
                  uint64_t wr_id) {
    transport::SendQueue& queue = qp->queues->send;
    const uint32_t index = queue.producer.load();
    transport::SendWqe& wqe = queue.wqe(index);
    wqe = {};
    wqe.wr_id = wr_id;
    wqe.opcode = opcode;
    wqe.rkey = kFast.value();
    queue.local_operation(wqe) = operation;
    queue.producer.store(index + 1);
    device.engines[0]->doorbells().ring(device.layout().slot_of(qp->qpn));
  }
  void post_reg(uint64_t wr_id) {
    post_local(transport::WrOpcode::kRegMr,
               {device.address(0), 4096, device.memory.data(), kFast.value(), 0,
                memory::kLocalWrite | memory::kRemoteWrite},
               wr_id);
  }
  void post_invalidate(uint64_t wr_id) {
    post_local(transport::WrOpcode::kLocalInvalidate, {}, wr_id);
  }
  // The completion of an invalidation waits for the other engine, which is in a turn.
  void hold_completions() {
    post_reg(1);
    post_invalidate(2);
    epochs[1].begin_turn(false);
    settle();
  }

  TestDevice device{{.number = 1, .engines = 2}};
  EpochSlot epochs[2];
  std::unique_ptr<TestQp> qp;
  std::unique_ptr<TestQp> peer;
};

TEST_F(KeyChanges, AnInvalidationCompletesAfterTheOtherEnginesTurnAndIsFoundWithoutAFurtherInput) {
  post_reg(1);
  settle();
  ASSERT_EQ(qp->sent().size(), 1u);
  epochs[1].begin_turn(false);
  post_invalidate(2);
  settle();
  EXPECT_TRUE(qp->sent().empty());
  EXPECT_LE(device.engines[0]->poll_timeout(), device.now) << "its driver looks again";
  epochs[1].end_turn();
  settle();
  EXPECT_EQ(qp->sent().size(), 1u);
  EXPECT_GT(device.engines[0]->poll_timeout(), device.now);
}

// A port that takes nothing is not asked for room, so poll_frames is not called.
TEST_F(KeyChanges, HeldCompletionsDoNotWaitForAPortThatTakesNothing) {
  hold_completions();
  ASSERT_EQ(qp->sent().size(), 1u);
  DestroyQpCommand command;
  command.qpn = qp->qpn;
  EXPECT_EQ(device.run(0, command), -EINPROGRESS);
  epochs[1].end_turn();
  ASSERT_LE(device.engines[0]->poll_timeout(), device.now);
  device.engines[0]->handle_timeout(device.now);
  EXPECT_EQ(qp->sent().size(), 1u);
  EXPECT_TRUE(command.done);
}

TEST_F(KeyChanges, ARegistrationBehindAnInvalidationWaitsByATimer) {
  post_reg(1);
  settle();
  epochs[1].begin_turn(false);
  post_invalidate(2);
  post_reg(3);
  settle();
  ASSERT_EQ(qp->sent().size(), 1u);
  EXPECT_NE(device.engines[0]->poll_timeout(), kNever);
  epochs[1].end_turn();
  settle();
  EXPECT_EQ(qp->sent().size(), 2u);
}

TEST_F(KeyChanges, ADestroyIsDoneOnlyWhenHeldCompletionsCanBeSeen) {
  hold_completions();
  DestroyQpCommand command;
  command.qpn = qp->qpn;
  EXPECT_EQ(device.run(0, command), -EINPROGRESS);
  settle();
  EXPECT_FALSE(command.done);
  EXPECT_EQ(device.engines[0]->qp(qp->qpn), nullptr);
  epochs[1].end_turn();
  settle();
  EXPECT_TRUE(command.done);
  EXPECT_EQ(command.result, 0);
  EXPECT_EQ(qp->sent().size(), 2u);
}

// An XRC target does not know any more where its earlier messages have completed.
TEST_F(KeyChanges, ADestroyWaitsForHeldCompletionsInWhicheverQueueTheyAre) {
  auto another = device.create(QpType::kRc, 0);
  hold_completions();
  DestroyQpCommand command;
  command.qpn = another->qpn;
  EXPECT_EQ(device.run(0, command), -EINPROGRESS);
  epochs[1].end_turn();
  settle();
  EXPECT_TRUE(command.done);
}

TEST_F(KeyChanges, ADestroyIsNotPutOffByKeysThatAreTakenBackLater) {
  auto another = device.create(QpType::kRc, 0);
  hold_completions();
  DestroyQpCommand command;
  command.qpn = another->qpn;
  EXPECT_EQ(device.run(0, command), -EINPROGRESS);
  for (uint64_t id = 3; !command.done && id < 20; id += 2) {
    epochs[1].end_turn();
    epochs[1].begin_turn(false);
    post_reg(id);
    post_invalidate(id + 1);
    settle();
  }
  EXPECT_TRUE(command.done);
  epochs[1].end_turn();
}

TEST_F(KeyChanges, ADestroyedQueuePairThatWaitedForAKeyIsForgotten) {
  post_reg(1);
  post_invalidate(2);
  settle();
  epochs[1].begin_turn(false);
  EXPECT_EQ(device.to_state(*qp, QpState::kErr), 0);
  EXPECT_EQ(device.destroy(*qp), 0);
  epochs[1].end_turn();
  settle();
}

}  // namespace
}  // namespace uroce::engine
