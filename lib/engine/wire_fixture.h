// SPDX-License-Identifier: BSD-3-Clause
// Test support: a wire in memory between test devices; a test may lose or look at any frame.
#ifndef UROCE_ENGINE_WIRE_FIXTURE_H
#define UROCE_ENGINE_WIRE_FIXTURE_H

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "engine/engine_fixture.h"

namespace uroce::engine {

// Every frame of a device reaches all others at once, unless `lose` says so of it.
class TestWire {
 public:
  explicit TestWire(std::vector<TestDevice*> devices) : devices_(std::move(devices)) {}

  std::function<bool(const Bytes&)> lose = [](const Bytes&) { return false; };
  std::vector<Bytes> seen;  // frames that were sent, lost ones included

  Time now() const { return devices_.front()->now; }
  void set_now(Time now) {
    for (TestDevice* device : devices_) device->now = now;
  }
  // Turns at the present time until nothing moves.
  void settle() {
    for (int turns = 0; turns < 10'000; ++turns) {
      size_t moved = 0;
      for (TestDevice* device : devices_) moved += device->turn() + deliver(*device);
      if (moved == 0) return;
    }
    FAIL() << "frames never stop moving";
  }
  // Goes from deadline to deadline until `duration` has passed.
  void run(Duration duration) {
    const Time end = now() + duration;
    settle();
    while (now() < end) {
      Time next = end;
      for (TestDevice* device : devices_) next = std::min(next, device->poll_timeout());
      set_now(std::max(next, now() + Duration(1)));
      settle();
    }
  }

 private:
  size_t deliver(TestDevice& from) {
    std::vector<Bytes> frames;
    frames.swap(from.outbox);
    for (Bytes& frame : frames) {
      seen.push_back(frame);
      if (lose(frame)) continue;
      for (TestDevice* to : devices_) {
        if (to != &from) to->receive(frame);
      }
    }
    return frames.size();
  }

  std::vector<TestDevice*> devices_;
};

// Connects two RC queue pairs, to RTS on both sides.
inline void connect(TestQp& a, TestQp& b, uint8_t timeout = 14) {
  connect_to(a, {b.device.ipv4, b.device.mac, b.qpn, &a.device == &b.device}, timeout);
  connect_to(b, {a.device.ipv4, a.device.mac, a.qpn, &a.device == &b.device}, timeout);
}

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_WIRE_FIXTURE_H
