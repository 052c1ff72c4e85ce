// SPDX-License-Identifier: BSD-3-Clause
// One engine's loop turn: frames in, commands, time, frames out. The same code whoever drives it.
#ifndef UROCE_WORKER_LOOP_H
#define UROCE_WORKER_LOOP_H

#include <array>
#include <cstdint>

#include "base/counter.h"
#include "engine/seat.h"
#include "nic/queue.h"
#include "worker/handoff_mesh.h"
#include "worker/turn_times.h"

namespace uroce::worker {

// One writer, the thread that runs the turns.
struct LoopCounters {
  Counter turns;
  Counter busy_turns;    // that moved a frame
  Counter handoff_full;  // frames lost because another engine's ring was full
  Counter clock_gaps;    // turns that came so late that ACK timers were moved
  Counter turn_ns_max;   // longest time between the starts of two turns
  Counter busy_bursts;   // receive bursts that were full
};

class Loop {
 public:
  Loop(engine::EngineSeat& seat, nic::Queue& queue, HandoffMesh& mesh, uint32_t index);

  // Runs one turn at time `now`; the caller owns the engine (seat.h). Returns how many frames it
  // moved, in and out. Makes no system call, takes no lock, allocates nothing.
  uint32_t turn(Time now);

  // Takes the next event of the engine; the caller delivers it outside the turn.
  bool next_event(transport::Event& event);

  // After the last turn: frees the frames that other engines handed over.
  void drain();

  engine::EngineSeat& seat() { return seat_; }
  const LoopCounters& counters() const { return counters_; }

 private:
  static constexpr uint32_t kBurstsPerTurn = 4;
  static constexpr uint32_t kCommandsPerTurn = 8;

  void notice_gap(Duration gap);
  uint32_t receive(Time now);
  uint32_t receive_handed(Time now);
  void hand_off();
  void run_commands(Time now);
  uint32_t transmit(Time now);

  engine::EngineSeat& seat_;
  engine::Engine& engine_;
  nic::Queue& queue_;
  HandoffMesh& mesh_;
  const uint32_t index_;
  TurnTimes times_;
  LoopCounters counters_;
  std::array<RxFrame, nic::kBurst> frames_;
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_LOOP_H
