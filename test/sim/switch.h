// SPDX-License-Identifier: BSD-3-Clause
// A model of an Ethernet switch: one output queue per port, of limited rate and depth.
//
// A frame leaves when those before it have left and its own bytes have gone out. A frame that finds
// no room is lost (tail drop), unless the switch has asked the senders to be silent in time: with
// `pause_above` set it sends a pause (PFC) to whoever sends to a queue that is longer than that.
#ifndef UROCE_TEST_SIM_SWITCH_H
#define UROCE_TEST_SIM_SWITCH_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/types.h"

namespace uroce::sim {

struct SwitchConfig {
  uint64_t mbps = 0;  // of each output; 0: no switch, frames never wait
  size_t queue_bytes = 256 * 1024;
  size_t pause_above = 0;  // bytes; 0: no PFC
  Duration pause_span{20'000};
};

class Switch {
 public:
  void configure(const SwitchConfig& config) { config_ = config; }
  const SwitchConfig& config() const { return config_; }
  bool exists() const { return config_.mbps != 0; }

  // A frame comes in at `now` for the host at `port`: when it has left, or nothing if it is lost.
  std::optional<Time> enqueue(Time now, size_t port, size_t frame_bytes);
  // Whether a sender to `port` is to be paused for config().pause_span.
  bool pauses(Time now, size_t port);

 private:
  struct Waiting {
    Time leaves;
    size_t bytes;
  };
  struct Output {
    std::deque<Waiting> queue;
    size_t bytes = 0;
    Time free{};  // when the last one will have left
  };
  Output& output(Time now, size_t port);

  SwitchConfig config_;
  std::vector<Output> outputs_;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_SWITCH_H
