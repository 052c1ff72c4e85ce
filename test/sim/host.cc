// SPDX-License-Identifier: BSD-3-Clause
// Building a host, and one turn of its loop.
#include "test/sim/host.h"

#include <algorithm>

#include "verbs/face.h"

namespace uroce::sim {

WorldPort::WorldPort(uint8_t number) {
  info_.name = "world" + std::to_string(number);
  info_.mac = {{0x02, 0, 0, 0, 0, number}};
  info_.frame_bytes_max = 14 + 9000;
  info_.link_mbps = 25'000;
  info_.link_up = true;
  Gid ipv6{{0xfd}};
  ipv6.bytes[15] = number;
  addresses_ = {{Gid::from_ipv4(0x0A000000u + number), 24}, {ipv6, 64}};
}

Host::Host(World& world, uint8_t number, uint64_t seed)
    : world_(world),
      number_(number),
      name_("host" + std::to_string(number)),
      ids_(seed),
      port_(number) {
  shared_.keys = &keys_;
  shared_.qp_slots_per_engine = 64;
  shared_.groups = std::make_unique<engine::GroupPresence>(1, 1);
  engine::EngineConfig config;
  config.shared = &shared_;
  config.exclusive = true;
  config.mac = port_.info().mac;
  config.port_mtu_bytes = 9000;
  config.port_filters_nothing = true;
  config.groups_max = 64;
  config.memberships_max = 256;
  config.seed = seed;
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
  for (auto& room : rooms_) room.resize(9216);
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

void Host::receive(std::span<const uint8_t> frame) {
  if (port_queue_.size() >= world_.faults.port_frames) {
    world_.count_port_drop();
    ++dropped_in_stall_;
    return;
  }
  port_queue_.emplace_back(frame.begin(), frame.end());
}

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

void Host::take_waiting() {
  for (int turn = 0; turn < kBurstsPerTurn && !port_queue_.empty(); ++turn) {
    const size_t count = std::min(port_queue_.size(), kBurst);
    for (size_t i = 0; i < count; ++i) burst_[i] = to_engine(port_queue_[i], false);
    engine().handle_frames(world_.now(), {burst_.data(), count});
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
  if (engine().poll_timeout() <= now) engine().handle_timeout(now);
  transmit();
  while (const auto event = engine().poll_event()) verbs::dispatch_event(*event);
}

void Host::transmit() {
  const Time now = world_.now();
  std::array<TxSlot, 32> slots;
  for (;;) {
    for (size_t i = 0; i < slots.size(); ++i) {
      slots[i] = {};
      slots[i].room = rooms_[i].data();
      slots[i].capacity = static_cast<uint32_t>(rooms_[i].size());
    }
    const size_t filled = engine().poll_frames(now, slots);
    for (size_t i = 0; i < filled; ++i) {
      const std::span<const uint8_t> frame(slots[i].room, slots[i].length);
      if (slots[i].route != Route::kLocal) world_.send(*this, frame);
      // The engine is fed its own frames from a copy: its rooms are lent again meanwhile.
      if (slots[i].route != Route::kWire) {
        const std::vector<uint8_t> copy(frame.begin(), frame.end());
        const RxFrame own = to_engine(copy, true);
        engine().handle_frames(now, {&own, 1});
      }
    }
    if (filled < slots.size()) return;
  }
}

Time Host::next_timeout() const {
  if (stalled()) return stalled_until_;
  return port_queue_.empty() ? seat_->engine().poll_timeout() : world_.now();
}

}  // namespace uroce::sim
