// SPDX-License-Identifier: BSD-3-Clause
// One port and all that makes a device of it: engines in their seats, loops, the device object.
#ifndef UROCE_START_UNIT_H
#define UROCE_START_UNIT_H

#include <absl/status/statusor.h>

#include <memory>
#include <vector>

#include "base/id_source.h"
#include "config/settings.h"
#include "device/device.h"
#include "device/limits.h"
#include "nic/address_watch.h"
#include "nic/link_watch.h"
#include "nic/port.h"
#include "worker/loop.h"

namespace uroce::start {

// The limits of a device made with these settings.
device::DeviceLimits device_limits(const config::LimitSettings& limits);

// Built by the thread that opens the context; afterwards each part belongs to whom its own header
// says.
class Unit {
 public:
  // Allocates everything; no engine is driven yet.
  Unit(std::string name, std::unique_ptr<nic::Port> port, const config::Settings& settings,
       const engine::EngineDriver& driver, IdSource& ids);
  ~Unit();

  nic::Port& port() { return *port_; }
  device::Device& device() { return *device_; }
  nic::LinkWatch& link_watch() { return *link_watch_; }
  nic::AddressWatch& address_watch() { return *address_watch_; }
  std::vector<std::unique_ptr<worker::Loop>>& loops() { return loops_; }
  engine::EngineSeat& seat(uint32_t index) { return *seats_[index]; }
  uint32_t engine_count() const { return static_cast<uint32_t>(seats_.size()); }

  // The face's, made before the device starts; nullptr before and after.
  void* handle = nullptr;
  // Of the control thread: the kernel's addresses have changed, and not every engine knows it.
  bool rescan_due = false;
  // Of the control thread: it holds the engines, because the port has stopped and did not start.
  bool port_is_down = false;

 private:
  void make_engines(const config::Settings& settings, IdSource& ids);

  std::unique_ptr<nic::Port> port_;
  std::unique_ptr<nic::LinkWatch> link_watch_;
  std::unique_ptr<nic::AddressWatch> address_watch_;
  std::unique_ptr<memory::KeyTable> keys_;
  engine::DeviceShared shared_;
  std::unique_ptr<worker::HandoffMesh> mesh_;
  std::vector<std::unique_ptr<engine::EngineSeat>> seats_;
  std::vector<engine::EngineSeat*> seat_pointers_;
  std::vector<std::unique_ptr<worker::Loop>> loops_;
  std::unique_ptr<device::Device> device_;
};

}  // namespace uroce::start

#endif  // UROCE_START_UNIT_H
