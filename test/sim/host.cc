// SPDX-License-Identifier: BSD-3-Clause
// Building a host, and one turn of its loop.
#include "test/sim/host.h"

#include <algorithm>

#include "test/sim/check/allocations.h"
#include "test/sim/check/wire_rules.h"
#include "verbs/face.h"
#include "wire/parse.h"

namespace uroce::sim {
namespace {

constexpr uint32_t kRoomBeyondMtu = 216;  // headers below IP, and some to spare

// Whether the core owes an account of this frame: all but the control protocols of the port.
bool is_accountable(std::span<const uint8_t> frame, bool roce_only) {
  wire::L3Info info;
  const wire::FrameKind kind = wire::classify(frame, {}, info);
  return kind == wire::FrameKind::kRoce || (!roce_only && kind == wire::FrameKind::kOther);
}

uint64_t accounted(engine::Engine& engine) {
  uint64_t sum = engine.counters().received_packets.value();
  for (const Counter& counter : engine.drops().by_reason) sum += counter.value();
  return sum;
}

Gid ipv6_of(uint8_t number) {
  Gid ipv6{{0xfd}};
  ipv6.bytes[15] = number;
  return ipv6;
}

}  // namespace

WorldPort::WorldPort(uint8_t number, uint32_t mtu_bytes) {
  info_.name = "world" + std::to_string(number);
  info_.mac = {{0x02, 0, 0, 0, 0, number}};
  info_.frame_bytes_max = wire::kEthernetBytes + mtu_bytes;
  info_.link_mbps = 25'000;
  info_.link_up = true;
  addresses_ = {{Gid::from_ipv4(0x0A000000u + number), 24}, {ipv6_of(number), 64}};
}

Gid Host::ipv6() const { return ipv6_of(number_); }

Host::Host(World& world, uint8_t number, uint64_t seed, const HostLimits& limits)
    : world_(world),
      number_(number),
      name_("host" + std::to_string(number)),
      ids_(seed),
      port_(number, limits.mtu_bytes),
      keys_(limits.keys),
      rooms_(limits.frames_per_poll, std::vector<uint8_t>(limits.mtu_bytes + kRoomBeyondMtu)) {
  shared_.keys = &keys_;
  shared_.qp_slots_per_engine = limits.queue_pairs;
  shared_.groups = std::make_unique<engine::GroupPresence>(1, 1);
  engine::EngineConfig config;
  config.shared = &shared_;
  config.exclusive = true;
  config.mac = port_.info().mac;
  config.port_mtu_bytes = limits.mtu_bytes;
  config.port_filters_nothing = true;
  config.groups_max = limits.groups;
  config.memberships_max = limits.memberships;
  config.sources_max = limits.sources;
  config.neighbors_max = limits.neighbors;
  config.seed = seed;
  config.kept_packets_max = limits.kept_packets;
  seat_ = std::make_unique<engine::EngineSeat>(config, engine::DriveMode::kInlineExclusive);
  seats_ = {seat_.get()};
  device::DeviceSetup setup;
  setup.name = name_;
  setup.seats = seats_;
  setup.driver.context = &world;
  setup.driver.now = [](void* context) { return static_cast<World*>(context)->now(); };
  setup.driver.turn = [](void* context, uint32_t) { static_cast<World*>(context)->turn(); };
  setup.shared = &shared_;
  setup.port = &port_;
  setup.ids = &ids_;
  device_ = std::make_unique<device::Device>(setup);
}

Host::~Host() {
  if (handle_ != nullptr) verbs::close_device(handle_);
}

void Host::start() {
  handle_ = verbs::open_device(*device_);
  device_->start();
}

RxFrame Host::to_engine(std::span<const uint8_t> frame, bool looped) const {
  RxFrame rx;
  rx.bytes = frame.data();
  rx.length = static_cast<uint32_t>(frame.size());
  rx.arrival = world_.now();
  rx.looped = looped;
  return rx;
}

bool Host::receive(std::span<const uint8_t> frame) {
  if (port_queue_.size() >= world_.faults.port_frames) {
    ++audit_.frames_lost_at_port;
    ++dropped_in_stall_;
    return false;
  }
  port_queue_.emplace_back(frame.begin(), frame.end());
  return true;
}

size_t Host::live_keys() const {
  size_t alive = 0;
  for (const uint32_t key : noted_keys_) {
    uint8_t* at = nullptr;
    const auto verdict = keys_.translate(Key(key), 0, 0, 0, 0, at);
    alive += verdict != memory::KeyVerdict::kUnknownKey ? 1 : 0;
  }
  return alive;
}

bool Host::paused() const { return world_.now() < paused_until_; }

void Host::stall_until(Time end) {
  stalled_since_ = world_.now();
  stalled_until_ = end;
  dropped_in_stall_ = 0;
  world_.log(name_ + " stalls for " + std::to_string((end - stalled_since_).count()));
}

// The first turn after a stall: the rule of lib/worker/loop.cc for a clock that has jumped.
void Host::wake() {
  const Duration gap = world_.now() - stalled_since_;
  stalled_until_ = kNever;
  const bool moved = gap > engine().shortest_armed_timeout() / 4;
  if (moved) engine().handle_clock_gap(gap);
  world_.log(name_ + " goes on after a stall of " + std::to_string(gap.count()) + ": " +
             std::to_string(port_queue_.size()) + " frames wait, " +
             std::to_string(dropped_in_stall_) + " fell off its port" +
             (moved ? ", ACK timers moved" : ""));
}

void Host::give(std::span<const RxFrame> frames) {
  uint64_t accountable = 0;
  for (const RxFrame& frame : frames) {
    accountable += is_accountable({frame.bytes, frame.length}, false) ? 1 : 0;
    audit_.looped_in += frame.looped ? 1 : 0;
  }
  audit_.frames_in += frames.size();
  const uint64_t before = accounted(engine());
  if (world_.rules != nullptr) world_.rules->before(*this, frames);
  {
    const AllocationWatch watch(audit_.allocations);
    engine().handle_frames(world_.now(), frames);
  }
  if (world_.rules != nullptr) world_.rules->after(*this, world_.now());
  const uint64_t after = accounted(engine()) - before;
  if (after < accountable) audit_.lost_silently += accountable - after;
}

void Host::take_waiting() {
  for (int turn = 0; turn < kBurstsPerTurn && !port_queue_.empty(); ++turn) {
    const size_t count = std::min(port_queue_.size(), kBurst);
    for (size_t i = 0; i < count; ++i) burst_[i] = to_engine(port_queue_[i], false);
    give({burst_.data(), count});
    port_queue_.erase(port_queue_.begin(), port_queue_.begin() + static_cast<ptrdiff_t>(count));
  }
}

void Host::pump() {
  const Time now = world_.now();
  if (stalled()) {
    if (now < stalled_until_) return;
    wake();
  }
  take_waiting();
  if (engine().poll_timeout() <= now) {
    const AllocationWatch watch(audit_.allocations);
    engine().handle_timeout(now);
  }
  if (!paused()) {
    transmit();
    // What looped frames have brought about leaves with the next turn.
    if (world_.rules != nullptr && !engine().has_output(now)) world_.rules->turned(*this);
  }
  while (const auto event = engine().poll_event()) verbs::dispatch_event(*event);
}

void Host::transmit() {
  const Time now = world_.now();
  std::array<TxSlot, HostLimits::kFramesPerPollMax> array;
  const std::span<TxSlot> slots(array.data(), rooms_.size());
  for (;;) {
    for (size_t i = 0; i < slots.size(); ++i) {
      slots[i] = {};
      slots[i].room = rooms_[i].data();
      slots[i].capacity = static_cast<uint32_t>(rooms_[i].size());
    }
    size_t filled = 0;
    {
      const AllocationWatch watch(audit_.allocations);
      filled = engine().poll_frames(now, slots);
    }
    // All of them were made before any of them arrives.
    for (size_t i = 0; i < filled; ++i) {
      const std::span<const uint8_t> frame(slots[i].room, slots[i].length);
      if (world_.rules != nullptr) world_.rules->sent(*this, now, frame);
      if (world_.tap) world_.tap(*this, frame);
    }
    for (size_t i = 0; i < filled; ++i) {
      const std::span<const uint8_t> frame(slots[i].room, slots[i].length);
      audit_.roce_out += is_accountable(frame, true) ? 1 : 0;
      if (slots[i].route != Route::kLocal) {
        ++audit_.frames_out;
        world_.send(*this, frame);
      }
      // The engine is fed its own frames from a copy: its rooms are lent again meanwhile.
      if (slots[i].route != Route::kWire) {
        const std::vector<uint8_t> copy(frame.begin(), frame.end());
        const RxFrame own = to_engine(copy, true);
        give({&own, 1});
      }
    }
    if (filled < slots.size()) return;
  }
}

// What keeps the loop from sleeping for ever: frames that wait, timers, and the end of a pause.
Time Host::next_timeout() const {
  if (stalled()) return stalled_until_;
  if (!port_queue_.empty()) return world_.now();
  const engine::Engine& engine = seat_->engine();
  const Time timers = engine.poll_timeout();
  if (!paused()) return timers;
  // Timers whose only use is to send wait as well: their time may be past already.
  return timers > world_.now() ? std::min(timers, paused_until_) : paused_until_;
}

}  // namespace uroce::sim
