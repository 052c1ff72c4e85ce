// SPDX-License-Identifier: BSD-3-Clause
// The poll loop. Order matters: frames come before time, so that an ACK which is already in the
// ring is seen before the timer that waits for it; commands come between them; output comes last.
#include "worker/loop.h"

namespace uroce::worker {

Loop::Loop(engine::EngineSeat& seat, nic::Queue& queue, HandoffMesh& mesh, uint32_t index)
    : seat_(seat), engine_(seat.engine()), queue_(queue), mesh_(mesh), index_(index) {}

uint32_t Loop::turn(Time now) {
  seat_.epoch().begin_turn(seat_.mode() == engine::DriveMode::kInlineExclusive);
  now = times_.begin(now);
  notice_gap(times_.gap());
  uint32_t moved = receive(now);
  if (mesh_.engines() > 1) moved += receive_handed(now);
  run_commands(now);
  if (engine_.poll_timeout() <= now) engine_.handle_timeout(now);
  moved += transmit(now);
  seat_.epoch().end_turn();
  ++counters_.turns;
  if (moved != 0) ++counters_.busy_turns;
  return moved;
}

// The host may have stolen the core for a while: no peer is to blame for that.
void Loop::notice_gap(Duration gap) {
  const auto ns = static_cast<uint64_t>(gap.count());
  if (ns > counters_.turn_ns_max.value()) {
    counters_.turn_ns_max.add(ns - counters_.turn_ns_max.value());
  }
  // Below a microsecond no timeout can be a quarter gone; do not even ask.
  if (gap > Duration(1000) && gap > engine_.shortest_armed_timeout() / 4) {
    engine_.handle_clock_gap(gap);
    ++counters_.clock_gaps;
  }
}

uint32_t Loop::receive(Time now) {
  uint32_t moved = 0;
  for (uint32_t burst = 0; burst < kBurstsPerTurn; ++burst) {
    const uint32_t count = queue_.receive(now, frames_);
    if (count == 0) break;
    const std::span<const RxFrame> frames(frames_.data(), count);
    engine_.handle_frames(now, frames);
    if (mesh_.engines() > 1) hand_off();
    queue_.release(frames);
    moved += count;
    if (count == nic::kBurst) {
      ++counters_.busy_bursts;
    } else {
      break;
    }
  }
  return moved;
}

uint32_t Loop::receive_handed(Time now) {
  uint32_t count = 0;
  for (uint32_t from = 0; from < mesh_.engines() && count < nic::kBurst; ++from) {
    HandedFrame handed;
    while (count < nic::kBurst && mesh_.ring(from, index_).pop(handed)) {
      frames_[count] = nic::Queue::frame_of(handed.token, handed.arrival);
      frames_[count].icrc_good = handed.icrc_good;
      ++count;
    }
  }
  if (count == 0) return 0;
  engine_.handle_frames(now, {frames_.data(), count});
  hand_off();
  for (uint32_t i = 0; i < count; ++i) nic::Queue::drop_reference(frames_[i].token);
  return count;
}

void Loop::hand_off() {
  std::array<engine::Handoff, 64> out;
  while (const size_t count = engine_.poll_handoff(out)) {
    for (size_t i = 0; i < count; ++i) {
      nic::Queue::add_reference(out[i].token);
      if (!mesh_.ring(index_, out[i].engine)
               .push({out[i].token, out[i].arrival, out[i].icrc_good})) {
        nic::Queue::drop_reference(out[i].token);
        ++counters_.handoff_full;
      }
    }
  }
}

void Loop::run_commands(Time now) {
  engine::Command* command = nullptr;
  for (uint32_t i = 0; i < kCommandsPerTurn && seat_.mailbox().pop(command); ++i) {
    engine_.handle_command(now, *command);
  }
}

uint32_t Loop::transmit(Time now) {
  uint32_t moved = 0;
  if (queue_.blocked()) queue_.flush();
  for (uint32_t burst = 0; burst < kBurstsPerTurn && !queue_.blocked() && engine_.has_output(now);
       ++burst) {
    const std::span<TxSlot> slots = queue_.lend();
    if (slots.empty()) break;
    const auto filled = static_cast<uint32_t>(engine_.poll_frames(now, slots));
    if (filled == 0) break;
    queue_.submit(filled);
    moved += filled;
    if (filled < slots.size()) break;
  }
  return moved;
}

bool Loop::next_event(transport::Event& event) {
  const auto next = engine_.poll_event();
  if (!next) return false;
  event = *next;
  return true;
}

void Loop::drain() {
  HandedFrame handed;
  for (uint32_t from = 0; from < mesh_.engines(); ++from) {
    while (mesh_.ring(from, index_).pop(handed)) nic::Queue::drop_reference(handed.token);
  }
}

}  // namespace uroce::worker
