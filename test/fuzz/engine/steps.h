// SPDX-License-Identifier: BSD-3-Clause
// The instructions of a program: frames that arrive, time that passes, and calls of an application
// that may be wrong but does not lie about its own memory.
#ifndef UROCE_TEST_FUZZ_ENGINE_STEPS_H
#define UROCE_TEST_FUZZ_ENGINE_STEPS_H

#include "test/fuzz/engine/fuzz_host.h"
#include "test/fuzz/engine/program.h"

namespace uroce::fuzz {

// What the first byte of an instruction says, modulo kStepCount. seeds.py knows these numbers.
enum class Step : uint8_t {
  kPacket,      // packets.h
  kPacketOnly,  // the same, without a turn of the loop: the next ones come in the same burst
  kFrame,       // bytes as they are
  kTime,
  kSend,
  kReceive,
  kReceives,  // fills every receive queue
  kPoll,
  kArm,
  kReconnect,
  kModify,
  kDestroy,
  kGroup,
  kMemory,
  kResize,
  kQuery,
  kStepCount,
};

void run_step(FuzzHost& host, Program& program);

// The parts of it that post work requests (posts.cc).
void post_send(FuzzHost& host, Program& program);
void post_receive(FuzzHost& host, Slot slot, Program& program);
void post_receives(FuzzHost& host);

}  // namespace uroce::fuzz

#endif  // UROCE_TEST_FUZZ_ENGINE_STEPS_H
