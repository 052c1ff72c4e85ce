// SPDX-License-Identifier: BSD-3-Clause
// Draws a plan from a seed. Which features a run has is drawn first (a swarm: no run has all), then
// how much of each.
#include <iterator>

#include "test/sim/plan.h"

namespace uroce::sim {
namespace {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  Plan plan(uint64_t seed);

 private:
  bool one_in(uint64_t n) { return random_.below(n) == 0; }
  uint32_t below(uint64_t bound) { return static_cast<uint32_t>(random_.below(bound)); }
  double up_to(double most) { return most * static_cast<double>(random_.below(1001)) / 1000.0; }
  Duration micros(uint64_t most) {
    return random_.delay_within(Duration(static_cast<int64_t>(most) * 1000));
  }

  Faults faults();
  SwitchConfig fabric();
  ChannelPlan channel(size_t hosts);
  uint32_t length(const ChannelPlan& channel);
  Operation operation(const ChannelPlan& channel);
  uint8_t kind(const ChannelPlan& channel);
  Step step(const Plan& plan);
  Step disturbance(const Plan& plan);
  Step datagram(const Plan& plan);
  void tune(Plan& plan);

  Random random_;
  uint32_t enabled_ = 0;  // bit i: kOperations[i] is drawn in this run
  bool tangles_ = false;
  bool trespasses_ = false;
  bool disturbs_ = false;
  bool reboots_ = false;
};

Faults Draw::faults() {
  Faults faults;
  if (!one_in(4)) faults.loss = one_in(4) ? 0.1 : up_to(0.05);
  if (one_in(2)) faults.duplicate = up_to(0.05);
  if (one_in(2)) faults.reorder = up_to(0.05);
  if (one_in(2)) faults.corrupt = up_to(0.01);
  // Some stalls outlast an ACK timeout.
  if (one_in(2)) faults.stall = up_to(0.004);
  faults.port_frames = 8 + below(120);
  faults.latency = Duration(1'000 + below(20'000));
  faults.reorder_delay = Duration(1'000 + below(100'000));
  return faults;
}

SwitchConfig Draw::fabric() {
  SwitchConfig config;
  if (!one_in(3)) return config;
  config.mbps = one_in(2) ? 10'000 : 100'000;
  config.queue_bytes = 20'000 + below(200'000);
  if (one_in(2)) config.pause_above = config.queue_bytes / 2;
  config.pause_span = Duration(1'000 + below(one_in(4) ? 3'000'000 : 30'000));
  return config;
}

ChannelPlan Draw::channel(size_t hosts) {
  ChannelPlan channel;
  channel.host[0] = below(hosts);
  channel.host[1] = one_in(8) ? channel.host[0] : (channel.host[0] + 1 + below(hosts - 1)) % hosts;
  channel.mtu = static_cast<ib_mtu>(1 + below(5));
  channel.send_depth = 2 + below(15);
  channel.recv_depth = 1 + below(10);
  const uint32_t mtu = static_cast<uint32_t>(ib_mtu_enum_to_int(channel.mtu));
  channel.message_bytes_max = mtu * (1 + below(4)) + below(mtu);
  channel.sge_max = one_in(4) ? 30 : 1 + below(4);
  for (uint32_t& psn : channel.first_psn) {
    psn = one_in(2) ? 0xFFFFFF - below(100) : below(1u << 24);
  }
  channel.rd_atomic = static_cast<uint8_t>(1 + below(16));
  channel.timeout = static_cast<uint8_t>(9 + below(2));
  channel.min_rnr_timer = static_cast<uint8_t>(1 + below(10));
  channel.signal_all = one_in(2);
  channel.give_mac = one_in(2);
  channel.ipv6 = one_in(4);
  if (one_in(4)) channel.type = one_in(3) ? IB_QPT_XRC_INI : IB_QPT_UC;
  channel.srq = channel.type == IB_QPT_XRC_INI || (channel.type == IB_QPT_RC && one_in(3));
  channel.lends = channel.type == IB_QPT_RC && one_in(2);
  channel.tangles = tangles_;
  channel.send_wake = one_in(3) ? Wake::kNotified : Wake::kPolls;
  channel.recv_wake = static_cast<Wake>(below(3));
  return channel;
}

// The edges of packets first of all.
uint32_t Draw::length(const ChannelPlan& channel) {
  const uint32_t mtu = static_cast<uint32_t>(ib_mtu_enum_to_int(channel.mtu));
  const uint32_t most = channel.message_bytes_max;
  uint32_t length = 0;
  switch (below(6)) {
    case 0:
      length = below(3);
      break;
    case 1:
      length = mtu * (1 + below(4)) + below(3) - 1;
      break;
    case 2:
      length = below(most + 1);
      break;
    default:
      length = below(200);
  }
  return length > most ? most : length;
}

uint8_t Draw::kind(const ChannelPlan& channel) {
  uint32_t sum = 0;
  const auto weight = [&](size_t i) -> uint32_t {
    const OperationKind& kind = kOperations[i];
    if ((kind.types & type_bit(channel.type)) == 0) return 0;
    if (!channel.lends && works_on_keys(kind)) return 0;
    if (offends(kind)) return trespasses_ ? kind.weight : 0;
    return (enabled_ >> i & 1) != 0 ? kind.weight : 0;
  };
  for (size_t i = 0; i < kOperationCount; ++i) sum += weight(i);
  if (sum == 0) return 0;
  uint32_t ticket = below(sum);
  size_t i = 0;
  while (ticket >= weight(i)) ticket -= weight(i++);
  return static_cast<uint8_t>(i);
}

Operation Draw::operation(const ChannelPlan& channel) {
  Operation operation;
  operation.kind = kind(channel);
  operation.length = length(channel);
  operation.remote_offset = below(1u << 16);
  operation.sge_count = static_cast<uint8_t>(one_in(3) ? below(channel.sge_max + 1) : 1);
  operation.rotation = static_cast<uint8_t>(below(channel.sge_max + 1));
  operation.signaled = !one_in(3);
  operation.solicited = one_in(2);
  operation.fence = one_in(6);
  operation.forwards = operation.fence && !one_in(4);
  operation.inlined = kOperations[operation.kind].inlinable && one_in(5);
  operation.lender = static_cast<uint8_t>(below(3));
  operation.through = !one_in(3);
  operation.rights = static_cast<uint8_t>(below(6));
  operation.races = one_in(4);
  return operation;
}

Step Draw::disturbance(const Plan& plan) {
  static constexpr StepKind kKinds[] = {
      StepKind::kStarve,   StepKind::kStarve,     StepKind::kDrain,     StepKind::kDrain,
      StepKind::kQuery,    StepKind::kReregister, StepKind::kStall,     StepKind::kCut,
      StepKind::kPause,    StepKind::kRenew,      StepKind::kCut,       StepKind::kReboot,
      StepKind::kResizeCq, StepKind::kModerate,   StepKind::kResizeSrq, StepKind::kArmSrq,
      StepKind::kArmSrq};
  Step step;
  step.kind = kKinds[below(std::size(kKinds))];
  if (step.kind == StepKind::kReboot && !reboots_) step.kind = StepKind::kStarve;
  step.channel = static_cast<uint8_t>(below(plan.channels.size()));
  step.side = static_cast<uint8_t>(below(2));
  step.span = micros(one_in(3) ? 40'000 : 2'000);
  step.operation.length = below(1000);
  step.operation.signaled = one_in(2);
  if (step.kind == StepKind::kModerate) step.span = one_in(3) ? Duration{} : micros(300);
  if (step.kind == StepKind::kStall || step.kind == StepKind::kPause ||
      step.kind == StepKind::kReboot) {
    step.side = static_cast<uint8_t>(below(plan.hosts));
    step.span = micros(one_in(4) ? 5'000 : 500);
  }
  return step;
}

Step Draw::datagram(const Plan& plan) {
  Step step;
  step.side = static_cast<uint8_t>(below(plan.hosts));
  if (one_in(6)) {
    step.kind = StepKind::kAttach;
    return step;
  }
  step.kind = StepKind::kDatagram;
  step.channel = static_cast<uint8_t>(below(plan.hosts + 2));  // above the hosts: the group
  step.operation.length = one_in(3) ? below(1025) : below(100);
  step.operation.signaled = !one_in(3);
  step.operation.inlined = one_in(4);
  return step;
}

Step Draw::step(const Plan& plan) {
  Step step;
  if (plan.datagrams && one_in(5)) {
    step = datagram(plan);
  } else if (disturbs_ && one_in(12)) {
    step = disturbance(plan);
  } else {
    step.channel = static_cast<uint8_t>(below(plan.channels.size()));
    step.side = static_cast<uint8_t>(below(2));
    step.operation = operation(plan.channels[step.channel]);
  }
  if (!one_in(3)) return step;  // bursts
  step.wait = micros(one_in(10) ? 3'000 : 20);
  return step;
}

// Drawn last, so that a seed keeps its steps.
void Draw::tune(Plan& plan) {
  for (ChannelPlan& channel : plan.channels) {
    if (one_in(2)) channel.rnr_retry = static_cast<uint8_t>(below(8));
    channel.late_rts = channel.type == IB_QPT_RC && one_in(2);
  }
  if (one_in(4)) plan.faults.latency_period = Duration(50'000 + below(5'000'000));
  if (!one_in(12)) return;
  // A wire on which nothing may be sent again.
  Faults calm;
  calm.latency = plan.faults.latency;
  calm.port_frames = 4096;
  plan.faults = calm;
  plan.fabric = {};
  for (ChannelPlan& channel : plan.channels) {
    channel.tangles = false;
    if (channel.host[0] == channel.host[1]) channel.host[1] = (channel.host[0] + 1) % plan.hosts;
  }
}

Plan Draw::plan(uint64_t seed) {
  Plan plan;
  plan.seed = seed;
  plan.hosts = 2 + below(2);
  plan.faults = faults();
  tangles_ = plan.faults.duplicate > 0 || plan.faults.reorder > 0;
  plan.fabric = fabric();
  plan.datagrams = one_in(3);
  enabled_ = one_in(3) ? ~0u : below(1u << kOperationCount);
  trespasses_ = one_in(3);
  disturbs_ = !one_in(3);
  reboots_ = one_in(4);
  const size_t channels = 1 + below(4);
  for (size_t i = 0; i < channels; ++i) plan.channels.push_back(channel(plan.hosts));
  const size_t steps = 40 + below(one_in(8) ? 400 : 120);
  for (size_t i = 0; i < steps; ++i) plan.steps.push_back(step(plan));
  tune(plan);
  return plan;
}

}  // namespace

// The world and the hosts draw from the seed as well, each in its own way.
Plan draw_plan(uint64_t seed) { return Draw(seed ^ 0x706C616E).plan(seed); }

}  // namespace uroce::sim
