// SPDX-License-Identifier: BSD-3-Clause
// What this face asks of whoever configures and drives the engines: in the library the process
// (process.h), in unit tests a device on a simulated port (face_fixture.h).
//
// DPDK starts late: devices are listed, opened and queried from the configuration alone. The first
// object that somebody makes of a device starts it, since programs list devices in constructors,
// and fork between opening and using one.
#ifndef UROCE_IBVERBS_RUNTIME_H
#define UROCE_IBVERBS_RUNTIME_H

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/limits.h"
#include "device/port_ops.h"

namespace uroce::ibverbs {

// A device of the configuration, whether or not it runs. Of a running one, what is in here and can
// change (addresses, link) is asked from the device instead.
struct DeviceDescription {
  std::string name;  // "uroce0"
  device::DeviceLimits limits;
  uint32_t qp_max = 0;
  uint32_t mr_max = 0;
  device::PortInfo port;                       // as far as it is known
  std::vector<device::PortAddress> addresses;  // in the order in which the GID table takes them
};

// All calls: any thread.
class Runtime {
 public:
  virtual ~Runtime() = default;

  // How many devices the configuration names. A negative errno, once logged in one sentence: the
  // configuration is wrong.
  virtual int device_count() = 0;
  // index: 0 … device_count() - 1.
  virtual DeviceDescription describe(uint32_t index) = 0;

  // The device; the first call starts DPDK, all ports and whoever drives them, which takes 120 to
  // 220 ms. A negative errno, logged in one sentence: it cannot start (the same answer for ever),
  // or -EIO: this process is the child of a fork.
  virtual int start(uint32_t index, device::Device*& device) = 0;
  // The device if it runs, else nullptr. Never starts it.
  virtual device::Device* running(uint32_t index) = 0;

  // Runs one turn of the engines and delivers events, if nobody else is at it: a poller that finds
  // nothing pushes the work itself. Packets moved.
  virtual uint32_t drive() = 0;
  // The same, but waits for whoever is at it: what was posted before has been through a turn
  // afterwards. Not for data paths.
  virtual uint32_t drive_in_turn() = 0;
};

// The one of this process. install() comes before any verb, once (tests: once for each fixture).
Runtime& runtime();
void install_runtime(Runtime* runtime);

// Whether this process is the child of a fork() and the engines have stayed with its parent.
// Threads that were inside a call then are not here to give their locks back, so a call that needs
// no engine asks this before it takes one.
inline std::atomic<bool> engines_stayed_behind{false};
inline bool has_lost_engines() { return engines_stayed_behind.load(std::memory_order_relaxed); }

// Delivers an event of an engine to completion channels and async queues: for whoever drives the
// engines, without a lock held (the same shape as verbs::dispatch_event()).
void dispatch_event(const transport::Event& event);
// A port event, to every open context of the device: what its event sink is to call
// (device::Device::set_event_sink).
void dispatch_port_event(uint32_t device_index, transport::EventType type);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_RUNTIME_H
