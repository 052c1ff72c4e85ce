// SPDX-License-Identifier: BSD-3-Clause
// The loop in which applications and world take turns, and the steps of a plan.
#include "test/sim/execution.h"

#include <algorithm>

#include "test/sim/check/allocations.h"
#include "test/sim/check/counters.h"
#include "test/sim/check/leaks.h"
#include "test/sim/check/sent_again.h"

namespace uroce::sim {
namespace {

constexpr Duration kTick{1'000'000};              // applications look at least that often
constexpr Duration kPatience{2'000'000'000};      // for anything that must happen at all
constexpr Duration kPatienceToPost{300'000'000};  // with a full queue
constexpr Duration kStragglers{10'000'000};       // longer than any frame is late
constexpr uint64_t kTurnsMax = 20'000'000;

}  // namespace

Execution::Execution(World& world, const Plan& plan, Verdict& verdict)
    : world_(world), plan_(plan), verdict_(verdict) {
  for (size_t i = 0; i < plan.hosts; ++i) world.add_host(make_host(i)).start();
  world.fabric.configure(plan.fabric);
  for (const ChannelPlan& channel : plan.channels) {
    channels_.push_back({channel, {}, 0});
    make_endpoints(channels_.back());
    connect(channels_.back());
  }
  if (plan.datagrams) {
    for (size_t i = 0; i < plan.hosts; ++i) {
      datagram_ends_.push_back(
          std::make_unique<DatagramEnd>(world, world.host(i), datagrams_, verdict));
    }
  }
  world.faults = plan.faults;
}

Execution::~Execution() = default;

std::unique_ptr<Host> Execution::make_host(size_t index) {
  const uint64_t seed = plan_.seed * 64 + ++lives_;
  return std::make_unique<Host>(world_, static_cast<uint8_t>(index + 1), seed);
}

void Execution::make_endpoints(Channel& channel) {
  const auto number = static_cast<uint64_t>(&channel - channels_.data());
  for (size_t side = 0; side < 2; ++side) {
    channel.ends[side] =
        std::make_unique<Endpoint>(world_, world_.host(channel.plan.host[side]), channel.plan, side,
                                   plan_.seed * 16 + number * 2 + side, verdict_, tally_);
  }
}

void Execution::connect(Channel& channel) {
  ++channel.life;
  channel.ends[0]->connect(*channel.ends[1], channel.life);
  channel.ends[1]->connect(*channel.ends[0], channel.life);
}

void Execution::serve() {
  for (Channel& channel : channels_) {
    for (const auto& end : channel.ends) {
      if (end != nullptr) end->serve();
    }
  }
  for (const auto& end : datagram_ends_) {
    if (end != nullptr) end->serve();
  }
  for (size_t i = 0; i < world_.host_count(); ++i) {
    Host& host = world_.host(i);
    if (host.engine().has_output(world_.now())) host.pump();
  }
  for (Channel& channel : channels_) {
    for (const auto& end : channel.ends) {
      if (end != nullptr) end->look_at_timers();
    }
  }
}

bool Execution::wait(Time end, const Condition& condition) {
  for (;;) {
    serve();
    if (!verdict_.good() || condition()) return true;
    if (world_.now() >= end) return false;
    const Time most = std::min(end, world_.now() + kTick);
    if (world_.next_event() <= most) {
      world_.step();
    } else {
      world_.run_until(most);
    }
    if (++turns_ > kTurnsMax) verdict_.fail("liveness", "the run does not end");
  }
}

void Execution::run() {
  for (const Step& step : plan_.steps) {
    if (!verdict_.good()) break;
    if (step.wait != Duration{}) wait(step.wait, [] { return false; });
    mend();
    if (verdict_.good()) carry_out(step);
  }
  if (verdict_.good()) finish();
}

void Execution::carry_out(const Step& step) {
  const auto end = [&]() -> Endpoint& { return *channels_[step.channel].ends[step.side]; };
  tally_.carried_out(step.kind);
  switch (step.kind) {
    case StepKind::kPost:
      return post(step);
    case StepKind::kStarve:
      return end().starve(step.span);
    case StepKind::kDrain:
      return end().drain(step.span, step.operation.signaled);
    case StepKind::kQuery:
      return end().query();
    case StepKind::kRenew:
      return renew_under_load(channels_[step.channel]);
    case StepKind::kReregister:
      return reregister(step);
    case StepKind::kStall:
      return world_.stall(world_.host(step.side), step.span);
    case StepKind::kCut: {
      const ChannelPlan& channel = channels_[step.channel].plan;
      return world_.cut(channel.host[0], channel.host[1], step.span);
    }
    case StepKind::kPause:
      return world_.pause(world_.host(step.side), step.span);
    case StepKind::kReboot:
      return reboot(step.side);
    case StepKind::kDatagram:
      return datagram(step);
    case StepKind::kAttach:
      return datagram_ends_[step.side]->toggle_membership();
    case StepKind::kResizeCq:
      return end().resize_cq(step.operation);
    case StepKind::kModerate:
      return end().moderate(step.operation, step.span);
    case StepKind::kResizeSrq:
      return end().resize_srq(step.operation.length);
    case StepKind::kArmSrq:
      return end().arm_srq(step.operation.length);
  }
}

void Execution::post(const Step& step) {
  Channel& channel = channels_[step.channel];
  const auto posted = [&] {
    return broken(channel) || channel.ends[step.side]->post(step.operation);
  };
  if (!wait(kPatienceToPost, posted)) verdict_.fail("liveness", "a send queue stays full");
}

void Execution::datagram(const Step& step) {
  const DatagramEnd* const to =
      step.channel < plan_.hosts ? datagram_ends_[step.channel].get() : nullptr;
  datagram_ends_[step.side]->send(step.operation, to);
}

// A silent request says that it is done only through one behind it.
void Execution::speak_up(Channel& channel) {
  for (const auto& end : channel.ends) end->post_signaled();
}

void Execution::reregister(const Step& step) {
  Channel& channel = channels_[step.channel];
  const auto idle = [&] {
    speak_up(channel);
    return broken(channel) || (channel.ends[0]->idle() && channel.ends[1]->idle());
  };
  if (!wait(kPatience, idle)) verdict_.fail("liveness", "work stays outstanding");
  if (verdict_.good() && !broken(channel)) channel.ends[step.side]->reregister();
}

bool Execution::broken(const Channel& channel) const {
  return channel.ends[0]->broken() || channel.ends[1]->broken();
}

void Execution::mend() {
  for (Channel& channel : channels_) {
    if (verdict_.good() && broken(channel)) renew_drained(channel);
  }
}

// Both ends to ERR; all that was posted completes; then a new life, every other time with new queue
// pairs.
void Execution::renew_drained(Channel& channel) {
  ++renewed_;
  for (const auto& end : channel.ends) end->to_error();
  const auto drained = [&] { return channel.ends[0]->drained() && channel.ends[1]->drained(); };
  if (!wait(kPatience, drained)) {
    verdict_.fail("completions", "not all work was flushed: " + channel.ends[0]->outstanding() +
                                     "; " + channel.ends[1]->outstanding());
  }
  if (!verdict_.good()) return;
  // On UC what is left on the wire would be taken by whoever has the number of the queue pair; what
  // is left in a shared receive queue, by the next life.
  const bool new_qps = channel.life % 2 == 0 || channel.plan.type == IB_QPT_UC || channel.plan.srq;
  for (const auto& end : channel.ends) end->end_life(new_qps);
  // Nobody connects across a partition.
  wait(world_.cut_until(channel.plan.host[0], channel.plan.host[1]), [] { return false; });
  if (verdict_.good()) connect(channel);
}

void Execution::renew_under_load(Channel& channel) {
  ++renewed_;
  for (const auto& end : channel.ends) end->destroy_and_create();
  wait(world_.cut_until(channel.plan.host[0], channel.plan.host[1]), [] { return false; });
  if (verdict_.good()) connect(channel);
}

void Execution::retire(Host& host) {
  check_host_counters(host, verdict_);
  check_allocations(host, verdict_);
  check_leaks(host, verdict_);
  retransmitted_ += host.engine().counters().retransmitted_packets.value();
}

// The power goes: the applications on the host are gone, their peers know nothing of it.
void Execution::take_down(size_t index) {
  world_.unplug(index);
  for (Channel& channel : channels_) {
    for (size_t side = 0; side < 2; ++side) {
      if (channel.plan.host[side] != index) continue;
      messages_ += channel.ends[side]->messages_done();
      if (channel.ends[1 - side] != nullptr) channel.ends[1 - side]->orphan();
      channel.ends[side].reset();
    }
  }
  if (!datagram_ends_.empty()) datagram_ends_[index].reset();
  retire(world_.host(index));
}

void Execution::reboot(size_t index) {
  mend();
  if (!verdict_.good()) return;
  ++renewed_;
  take_down(index);
  world_.replace_host(index, make_host(index)).start();
  // Whoever waits for the host gives up, within its contract (checker "timers").
  const auto noticed = [&] {
    return std::ranges::all_of(channels_, [](const Channel& channel) {
      return std::ranges::all_of(channel.ends, [&](const auto& end) {
        return end == nullptr || (channel.ends[0] != nullptr && channel.ends[1] != nullptr) ||
               end->broken() || !end->waits();
      });
    });
  };
  if (!wait(kPatience, noticed)) verdict_.fail("liveness", "a peer of a dead host waits for ever");
  for (Channel& channel : channels_) {
    if (channel.ends[0] != nullptr && channel.ends[1] != nullptr) continue;
    for (auto& end : channel.ends) {
      if (end == nullptr) continue;
      end->compare_abandoned();
      messages_ += end->messages_done();
      end.reset();
    }
    make_endpoints(channel);
    wait(world_.cut_until(channel.plan.host[0], channel.plan.host[1]), [] { return false; });
    connect(channel);
  }
  if (datagram_ends_.empty()) return;
  datagram_ends_[index] =
      std::make_unique<DatagramEnd>(world_, world_.host(index), datagrams_, verdict_);
}

void Execution::finish() {
  const auto idle = [&] {
    return std::ranges::all_of(channels_, [](const Channel& channel) {
      return channel.ends[0]->idle() && channel.ends[1]->idle();
    });
  };
  const auto still = [&] {
    for (Channel& channel : channels_) speak_up(channel);
    return idle() || std::ranges::any_of(channels_, [&](const Channel& c) { return broken(c); });
  };
  const Time end = world_.now() + 10 * kPatience;
  do {
    mend();
    if (!wait(end, still)) verdict_.fail("liveness", "work stays outstanding");
  } while (verdict_.good() && !idle());
  wait(kStragglers, [] { return false; });  // that nobody waits for: on UC
  for (Channel& channel : channels_) {
    for (const auto& side : channel.ends) side->compare_memory();
  }
  // Looped frames go from turn to turn of their host: that takes now long, now short.
  const bool loops = std::ranges::any_of(
      channels_, [](const Channel& c) { return c.plan.host[0] == c.plan.host[1]; });
  if (renewed_ == 0 && !loops && is_calm(world_)) {
    tally_.did(Deed::kCalmRun);
    check_sent_again(world_, verdict_);
  }
  for (Channel& channel : channels_) {
    if (verdict_.good()) renew_drained(channel);
    for (auto& side : channel.ends) {
      messages_ += side->messages_done();
      side.reset();
    }
  }
  datagram_ends_.clear();
  check_wire_counters(world_, verdict_);
  for (size_t i = 0; i < world_.host_count(); ++i) retire(world_.host(i));
}

}  // namespace uroce::sim
