// SPDX-License-Identifier: BSD-3-Clause
// Building a host, and one turn of its loop.
#include "test/sim/host.h"

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
  shared_.group_members = std::make_unique<std::atomic<uint32_t>[]>(1);
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

void Host::handle(std::span<const uint8_t> frame, bool looped) {
  RxFrame rx;
  rx.bytes = frame.data();
  rx.length = static_cast<uint32_t>(frame.size());
  rx.arrival = world_.now();
  rx.looped = looped;
  engine().handle_frames(world_.now(), {&rx, 1});
}

void Host::receive(std::span<const uint8_t> frame) { handle(frame, false); }

void Host::pump() {
  const Time now = world_.now();
  if (engine().poll_timeout() <= now) engine().handle_timeout(now);
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
        handle(copy, true);
      }
    }
    if (filled < slots.size()) break;
  }
  while (const auto event = engine().poll_event()) verbs::dispatch_event(*event);
}

Time Host::next_timeout() const { return seat_->engine().poll_timeout(); }

}  // namespace uroce::sim
