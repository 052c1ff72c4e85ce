// SPDX-License-Identifier: BSD-3-Clause
// A simulated host: the product from the verbs down to the engine, over a port of the world.
#ifndef UROCE_TEST_SIM_HOST_H
#define UROCE_TEST_SIM_HOST_H

#include <uroce/ib_verbs.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/id_source.h"
#include "device/device.h"
#include "test/sim/world.h"

namespace uroce::sim {

// An own port that filters nothing and is always up.
class WorldPort final : public device::PortOps {
 public:
  explicit WorldPort(uint8_t number);
  device::PortInfo info() override { return info_; }
  std::vector<device::PortAddress> addresses() override { return addresses_; }
  int set_multicast_macs(std::span<const MacAddress>) override { return 0; }
  int join_group(const Gid&) override { return -ENOTSUP; }
  int leave_group(const Gid&) override { return -ENOTSUP; }
  int resolve(const Gid&, Duration, MacAddress&) override { return -ENOTSUP; }

 private:
  device::PortInfo info_;
  std::vector<device::PortAddress> addresses_;
};

class Host {
 public:
  // Host `number` (1 … 200) is 10.0.0.<number> and fd00::<number>. start() is called when it is in
  // the world.
  Host(World& world, uint8_t number, uint64_t seed);
  ~Host();
  void start();

  const std::string& name() const { return name_; }
  ib_device* device() { return handle_; }
  engine::Engine& engine() { return seat_->engine(); }
  Gid ipv4() const { return Gid::from_ipv4(0x0A000000u + number_); }

  // A frame has come. pump() afterwards: timers that are due, frames that want to leave.
  void receive(std::span<const uint8_t> frame);
  void pump();
  Time next_timeout() const;

 private:
  void handle(std::span<const uint8_t> frame, bool looped);

  World& world_;
  const uint8_t number_;
  const std::string name_;
  SeededIdSource ids_;
  WorldPort port_;
  memory::KeyTable keys_{1024};
  engine::DeviceShared shared_;
  std::unique_ptr<engine::EngineSeat> seat_;
  std::array<engine::EngineSeat*, 1> seats_{};
  std::unique_ptr<device::Device> device_;
  ib_device* handle_ = nullptr;
  std::array<std::vector<uint8_t>, 32> rooms_;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_HOST_H
