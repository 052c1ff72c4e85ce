// SPDX-License-Identifier: BSD-3-Clause
// A simulated host: the product from the verbs down to the engine, over a port of the world.
#ifndef UROCE_TEST_SIM_HOST_H
#define UROCE_TEST_SIM_HOST_H

#include <uroce/ib_verbs.h>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/id_source.h"
#include "device/device.h"
#include "test/sim/world.h"

namespace uroce::sim {

// How much a host has room for: less where many hosts are made, each for a short life.
struct HostLimits {
  uint32_t mtu_bytes = 9000;  // of the port
  uint32_t frames_per_poll = kFramesPerPollMax;
  // As in KeyTable, DeviceShared and EngineConfig.
  uint32_t keys = 1024;
  uint32_t queue_pairs = 64;
  uint32_t groups = 64;
  uint32_t memberships = 256;
  uint32_t sources = 1024;
  uint32_t neighbors = 1024;
  uint32_t kept_packets = 1024;

  static constexpr uint32_t kFramesPerPollMax = 32;
};

// An own port that filters nothing and is always up.
class WorldPort final : public device::PortOps {
 public:
  WorldPort(uint8_t number, uint32_t mtu_bytes);
  device::PortInfo info() override { return info_; }
  std::vector<device::PortAddress> addresses() override { return addresses_; }
  int set_multicast_macs(std::span<const MacAddress>) override { return 0; }
  int set_group_filter(const Gid&, const SourceFilter&) override { return -ENOTSUP; }
  int resolve(const Gid&, Duration, MacAddress&) override { return -ENOTSUP; }

 private:
  device::PortInfo info_;
  std::vector<device::PortAddress> addresses_;
};

// What passed between a host's port and its engine, and whether the engine kept its promises.
struct HostAudit {
  uint64_t frames_in = 0;      // given to the engine, looped ones too
  uint64_t looped_in = 0;      // of them: never on the wire
  uint64_t frames_out = 0;     // onto the wire
  uint64_t roce_out = 0;       // made by the engine, with UDP port 4791
  uint64_t lost_silently = 0;  // neither received nor dropped by name
  uint64_t allocations = 0;    // inside calls of the engine
  uint64_t frames_lost_at_port = 0;
};

class Host {
 public:
  // Host `number` (1 … 200) is 10.0.0.<number> and fd00::<number>. start() is called when it is in
  // the world.
  Host(World& world, uint8_t number, uint64_t seed, const HostLimits& limits = {});
  ~Host();
  void start();

  const std::string& name() const { return name_; }
  uint8_t number() const { return number_; }
  MacAddress mac() { return port_.info().mac; }
  device::Device& rdma_device() { return *device_; }
  const HostAudit& audit() const { return audit_; }
  // Keys that the application got here, and how many of them still open a region.
  void note_key(uint32_t key) { noted_keys_.push_back(key); }
  size_t live_keys() const;
  ib_device* device() { return handle_; }
  engine::Engine& engine() { return seat_->engine(); }
  Gid ipv4() const { return Gid::from_ipv4(0x0A000000u + number_); }
  Gid ipv6() const;

  // A frame has come to the port, which holds World::faults.port_frames of them. False: it is full
  // and the frame is lost. pump() afterwards: a turn of the loop, in which the waiting frames are
  // taken, timers that are due act, and frames leave.
  bool receive(std::span<const uint8_t> frame);
  void pump();
  // When the loop has something to do next.
  Time next_timeout() const;

  // The core is taken away until `end`: the loop does not turn, whatever is due.
  void stall_until(Time end);
  bool stalled() const { return stalled_until_ != kNever; }
  // Nothing is sent until `end`; receiving and timers go on.
  void pause_until(Time end) { paused_until_ = end; }
  bool paused() const;

 private:
  static constexpr size_t kBurst = 32;
  static constexpr int kBurstsPerTurn = 4;

  void wake();
  void take_waiting();
  void give(std::span<const RxFrame> frames);
  void transmit();
  RxFrame to_engine(std::span<const uint8_t> frame, bool looped) const;

  World& world_;
  const uint8_t number_;
  const std::string name_;
  SeededIdSource ids_;
  WorldPort port_;
  memory::KeyTable keys_;
  engine::DeviceShared shared_;
  std::unique_ptr<engine::EngineSeat> seat_;
  std::array<engine::EngineSeat*, 1> seats_{};
  std::unique_ptr<device::Device> device_;
  ib_device* handle_ = nullptr;
  std::vector<std::vector<uint8_t>> rooms_;  // of the frames of one poll
  std::deque<std::vector<uint8_t>> port_queue_;
  std::array<RxFrame, kBurst> burst_;
  Time stalled_since_{};
  Time stalled_until_ = kNever;  // kNever: not stalled
  uint64_t dropped_in_stall_ = 0;
  Time paused_until_{};
  HostAudit audit_;
  std::vector<uint32_t> noted_keys_;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_HOST_H
