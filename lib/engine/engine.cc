// SPDX-License-Identifier: BSD-3-Clause
// The engine's face: each input sets the time, does its work and publishes completions.
#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "engine/commands.h"
#include "engine/dispatch.h"
#include "engine/engine_state.h"
#include "engine/tx_schedule.h"
#include "transport/retry.h"

namespace uroce::engine {

class Engine::Impl : public EngineState {
 public:
  using EngineState::EngineState;
};

Engine::Engine(const EngineConfig& config) : impl_(std::make_unique<Impl>(config)) {}
Engine::~Engine() = default;

void Engine::handle_frames(Time now, std::span<const RxFrame> frames) {
  impl_->env.now = now;
  dispatch_frames(*impl_, frames);
  if (impl_->waiting != nullptr) finish_resolved(*impl_);
  transport::cq_publish_all(impl_->env);
}

// A queue pair comes out of the wheel no later than its deadline, but often too early: the deadline
// has been pushed on since. settle() puts it back where it belongs.
void Engine::handle_timeout(Time now) {
  impl_->env.now = now;
  while (transport::QpContext* qp = impl_->timers.pop_due(now)) {
    if (transport::next_deadline(*qp) <= now) transport::handle_deadline(*qp, impl_->env);
    settle(*impl_, *qp);
  }
  if (impl_->host != nullptr) {
    impl_->host->handle_timeout(now);
    if (impl_->waiting != nullptr) finish_resolved(*impl_);
  }
  transport::cq_raise_held(impl_->env);
  transport::cq_publish_all(impl_->env);
  if (impl_->parting != nullptr) finish_parting(*impl_);
  if (impl_->held_back != nullptr) finish_held_back(*impl_);
}

void Engine::handle_command(Time now, Command& command) {
  impl_->env.now = now;
  run_command(*impl_, command);
}

// The wheel's entries stay where they are: coming out too early is harmless.
void Engine::handle_clock_gap(Duration gap) {
  impl_->timers.for_each(
      [gap](transport::QpContext& qp) { transport::shift_ack_deadline(qp, gap); });
  ++impl_->counters.clock_gaps;
}

bool Engine::has_output(Time now) const {
  return impl_->doorbells.any() || !impl_->transmit.empty() ||
         (impl_->host != nullptr && impl_->host->poll_timeout() <= now);
}

size_t Engine::poll_frames(Time now, std::span<TxSlot> slots) {
  impl_->env.now = now;
  const size_t filled = schedule_frames(*impl_, slots);
  if (impl_->parting != nullptr) finish_parting(*impl_);
  transport::cq_publish_all(impl_->env);
  return filled;
}

size_t Engine::poll_handoff(std::span<Handoff> out) {
  HandoffRing& ring = impl_->handoffs;
  const size_t count = std::min<size_t>(out.size(), ring.tail - ring.head);
  for (size_t i = 0; i < count; ++i) out[i] = ring.entries[ring.head++ & (ring.size - 1)];
  return count;
}

Time Engine::poll_timeout() const {
  // What waits for another engine's turn to end is looked at in every turn of ours.
  if (impl_->env.dirty != nullptr || impl_->held_back != nullptr) return impl_->env.now;
  Time timers = std::min(impl_->timers.next_expiry(), impl_->env.held_deadline);
  if (impl_->parting != nullptr) timers = std::min(timers, parting_deadline(*impl_));
  return impl_->host == nullptr ? timers : std::min(timers, impl_->host->poll_timeout());
}

std::optional<transport::Event> Engine::poll_event() {
  transport::Event event{};
  if (!impl_->env.events.take(event)) return std::nullopt;
  return event;
}

Doorbells& Engine::doorbells() { return impl_->doorbells; }

const transport::DropCounters& Engine::drops() const { return impl_->drops; }

const transport::TransportCounters& Engine::counters() const { return impl_->counters; }

const transport::QpContext* Engine::qp(Qpn qpn) const {
  return impl_->qps.owns(qpn) ? std::as_const(impl_->qps).find(qpn) : nullptr;
}

const group::MembershipTable& Engine::groups() const { return impl_->groups; }

const HostSide* Engine::host() const { return impl_->host.get(); }

Duration Engine::shortest_armed_timeout() const { return impl_->timeouts.shortest(); }

}  // namespace uroce::engine
