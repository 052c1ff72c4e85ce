// SPDX-License-Identifier: BSD-3-Clause
// For tests: a device on a port of paper, with real engines driven by the test's own thread and a
// clock that moves when somebody waits. What its engines send to its own addresses comes back.
#ifndef UROCE_DEVICE_DEVICE_FIXTURE_H
#define UROCE_DEVICE_DEVICE_FIXTURE_H

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/last_error.h"
#include "device/device.h"

namespace uroce::device {

inline constexpr MacAddress kTestMac{{0x02, 0, 0, 0, 0, 0x01}};
inline const Gid kTestIpv4 = Gid::from_ipv4(0x0A000001);                          // 10.0.0.1
inline const Gid kTestPeer = Gid::from_ipv4(0x0A000002);                          // 10.0.0.2
inline const Gid kTestGroup = Gid::from_ipv4(0xEF010203);                         // 239.1.2.3
inline const Gid kTestIpv6{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};  // fd00::1
inline const Gid kTestGroup6{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2}};

// Notes what it is asked, in words, and answers as it is told.
class PaperPort : public PortOps {
 public:
  PortInfo port{.name = "paper",
                .mac = kTestMac,
                .frame_bytes_max = 4096 + 98,
                .link_mbps = 100'000,
                .link_up = true};
  std::vector<PortAddress> list{{kTestIpv4, 24}, {kTestIpv6, 64}};
  std::vector<std::string> log;
  std::vector<MacAddress> macs;
  int filter_error = 0;
  int join_error = 0;
  std::string join_sentence;  // of the error
  int resolve_error = 0;
  MacAddress answer{{0x02, 0, 0, 0, 0, 0x02}};
  std::function<void(Duration limit)> on_resolve;

  PortInfo info() override { return port; }
  std::vector<PortAddress> addresses() override { return list; }
  int set_multicast_macs(std::span<const MacAddress> all) override {
    log.push_back("filter " + std::to_string(all.size()));
    if (filter_error != 0) return filter_error;
    macs.assign(all.begin(), all.end());
    return 0;
  }
  int set_group_filter(const Gid&, const SourceFilter& filter) override {
    if (filter.mode == FilterMode::kExclude) {
      log.push_back("join");
    } else {
      log.push_back(filter.is_nothing() ? "leave"
                                        : "sources " + std::to_string(filter.sources.size()));
    }
    if (!filter.is_nothing() && join_error != 0) set_last_error(join_sentence);
    return filter.is_nothing() ? 0 : join_error;
  }
  int resolve(const Gid&, Duration limit, MacAddress& mac) override {
    log.push_back("resolve");
    if (on_resolve) on_resolve(limit);
    if (resolve_error == 0) mac = answer;
    return resolve_error;
  }
};

struct TestBedOptions {
  std::string name = "uroce0";
  uint32_t engines = 1;
  uint32_t qp_slots = 64;
  uint32_t keys = 64;
  engine::DriveMode mode = engine::DriveMode::kInlineExclusive;
  DeviceLimits limits{};
  bool shared_port = false;
  bool privileged_qkey = false;
};

class TestBed {
 public:
  explicit TestBed(const TestBedOptions& options = {}) : keys_(options.keys), ids_(1) {
    shared_.keys = &keys_;
    shared_.engine_count = options.engines;
    shared_.qp_slots_per_engine = options.qp_slots;
    shared_.groups = std::make_unique<engine::GroupPresence>(options.engines, 1);
    port.port.queue_count = options.engines;
    if (options.shared_port) port.port.ownership = PortOwnership::kShared;
    for (uint32_t i = 0; i < options.engines; ++i) {
      engine::EngineConfig config;
      config.index = i;
      config.shared = &shared_;
      config.exclusive = options.mode == engine::DriveMode::kInlineExclusive;
      config.own_port = !options.shared_port;
      config.mac = kTestMac;
      config.port_mtu_bytes = 4096 + 84;
      config.seed = 1;
      seats_.push_back(std::make_unique<engine::EngineSeat>(config, options.mode));
      seat_pointers_.push_back(seats_.back().get());
    }
    DeviceSetup setup;
    setup.name = options.name;
    setup.seats = seat_pointers_;
    setup.driver = {&TestBed::now, &TestBed::turn, this};
    setup.shared = &shared_;
    setup.port = &port;
    setup.ids = &ids_;
    setup.limits = options.limits;
    setup.privileged_qkey = options.privileged_qkey;
    device_ = std::make_unique<Device>(setup);
    for (Room& room : rooms_) room.bytes.resize(9216);
  }

  Device& device() { return *device_; }
  engine::EngineSeat& seat(uint32_t index = 0) { return *seats_[index]; }
  memory::KeyTable& keys() { return keys_; }
  Time clock() const { return Time(Duration(now_ns_.load())); }

  // Runs the loops until nothing moves for a while; time passes, a microsecond a turn.
  void settle(int turns = 300) {
    for (int i = 0; i < turns; ++i) {
      for (uint32_t engine = 0; engine < seats_.size(); ++engine) run_turn(engine);
      pass(std::chrono::microseconds(1));
    }
  }

  // Worker mode: a turn of every loop, mailbox included, for a thread that plays the worker.
  void work() {
    for (uint32_t engine = 0; engine < seats_.size(); ++engine) run_turn(engine);
    pass(std::chrono::microseconds(1));
  }

  void pass(Duration time) { now_ns_.store(now_ns_.load() + time.count()); }

  PaperPort port;
  std::function<void()> on_clock;  // whenever a control call asks for the time
  void (*on_event)(const transport::Event& event) = nullptr;
  std::vector<transport::Event> events;                // as long as nobody is told
  std::vector<std::vector<uint8_t>> wire;              // what left through the port
  Duration turn_takes = std::chrono::milliseconds(1);  // of a turn in which somebody waits

 private:
  struct Room {
    std::vector<uint8_t> bytes;
  };
  struct Looped {
    std::vector<uint8_t> bytes;
    bool icrc_good = false;
  };

  static Time now(void* self) {
    auto& bed = *static_cast<TestBed*>(self);
    if (bed.on_clock) bed.on_clock();
    return bed.clock();
  }
  static void turn(void* self, uint32_t index) {
    auto& bed = *static_cast<TestBed*>(self);
    bed.pass(bed.turn_takes);
    bed.run_turn(index);
  }

  void run_turn(uint32_t index) {
    if (!take(index)) return;
    run_loop(index);
    give_back(index);
    // As in the product: taken while the engine is ours, delivered when it is not.
    while (take(index)) {
      const auto event = seats_[index]->engine().poll_event();
      give_back(index);
      if (!event) return;
      if (on_event != nullptr) {
        on_event(*event);
      } else {
        events.push_back(*event);
      }
    }
  }

  // Inline shared: the engine's baton.
  bool take(uint32_t index) {
    engine::EngineSeat& seat = *seats_[index];
    return seat.mode() != engine::DriveMode::kInlineShared || seat.try_take();
  }
  void give_back(uint32_t index) {
    engine::EngineSeat& seat = *seats_[index];
    if (seat.mode() == engine::DriveMode::kInlineShared) seat.give_back();
  }

  void run_loop(uint32_t index) {
    engine::EngineSeat& seat = *seats_[index];
    engine::Engine& engine = seat.engine();
    seat.epoch().begin_turn(seat.mode() == engine::DriveMode::kInlineExclusive);
    deliver(index);
    engine::Command* command = nullptr;
    while (seat.mailbox().pop(command)) engine.handle_command(clock(), *command);
    if (engine.poll_timeout() <= clock()) engine.handle_timeout(clock());
    transmit(index);
    seat.epoch().end_turn();
  }

  void deliver(uint32_t index) {
    std::deque<Looped> frames;
    frames.swap(looped_[index]);
    for (const Looped& frame : frames) {
      RxFrame rx;
      rx.bytes = frame.bytes.data();
      rx.length = static_cast<uint32_t>(frame.bytes.size());
      rx.looped = true;
      rx.icrc_good = frame.icrc_good;
      rx.arrival = clock();
      seats_[index]->engine().handle_frames(clock(), {&rx, 1});
      engine::Handoff out[8];
      while (const size_t count = seats_[index]->engine().poll_handoff(out)) {
        for (size_t i = 0; i < count; ++i) {
          looped_[out[i].engine].push_back({frame.bytes, out[i].icrc_good});
        }
      }
    }
  }

  void transmit(uint32_t index) {
    std::array<TxSlot, 16> slots;
    for (;;) {
      for (size_t i = 0; i < slots.size(); ++i) {
        slots[i] = {};
        slots[i].room = rooms_[i].bytes.data();
        slots[i].capacity = static_cast<uint32_t>(rooms_[i].bytes.size());
      }
      const size_t count = seats_[index]->engine().poll_frames(clock(), slots);
      for (size_t i = 0; i < count; ++i) {
        const std::vector<uint8_t> bytes(slots[i].room, slots[i].room + slots[i].length);
        if (slots[i].route != Route::kWire) looped_[index].push_back({bytes, false});
        if (slots[i].route != Route::kLocal) wire.push_back(bytes);
      }
      if (count < slots.size()) return;
    }
  }

  memory::KeyTable keys_;
  engine::DeviceShared shared_;
  SeededIdSource ids_;
  std::vector<std::unique_ptr<engine::EngineSeat>> seats_;
  std::vector<engine::EngineSeat*> seat_pointers_;
  std::unique_ptr<Device> device_;
  std::atomic<int64_t> now_ns_{1'000'000'000};
  std::array<Room, 16> rooms_;
  std::array<std::deque<Looped>, 8> looped_;
};

// A started device with a protection domain and a completion queue, for tests of what uses them.
class ObjectsBed {
 public:
  explicit ObjectsBed(const TestBedOptions& options = {}) : bed_(options) {
    if (options.mode == engine::DriveMode::kWorker) bed_.on_clock = [this] { bed_.work(); };
    EXPECT_EQ(device().start(), 0);
    EXPECT_EQ(device().create_pd(pd_), 0);
    EXPECT_EQ(device().create_cq(16, nullptr, cq_), 0);
  }
  ~ObjectsBed() {
    EXPECT_EQ(device().destroy_cq(cq_), 0);
    EXPECT_EQ(device().destroy_pd(*pd_), 0);
  }
  ObjectsBed(const ObjectsBed&) = delete;
  ObjectsBed& operator=(const ObjectsBed&) = delete;

  Device& device() { return bed_.device(); }
  QpRequest request(transport::QpType type) const {
    return {.type = type,
            .capabilities = {4, 4, 2, 2, 64},
            .send_cq = cq_.object,
            .recv_cq = cq_.object};
  }
  void make(transport::QpType type, QpHandle& qp) {
    ASSERT_EQ(device().create_qp(*pd_, request(type), qp), 0);
  }

  TestBed bed_;
  Pd* pd_ = nullptr;
  CqHandle cq_;
};

// Attributes of a path to `dgid` from an entry of the GID table.
inline AhAttributes path_to(const Gid& dgid, uint32_t sgid_index) {
  AhAttributes attributes;
  attributes.dgid = dgid;
  attributes.sgid_index = sgid_index;
  attributes.global = true;
  return attributes;
}

}  // namespace uroce::device

#endif  // UROCE_DEVICE_DEVICE_FIXTURE_H
