// SPDX-License-Identifier: BSD-3-Clause
// When a memif client that has no peer may be restarted. A restart ends the handshake that is under
// way, which takes some milliseconds, and seconds on a machine that is busy: each one that has led
// to nothing makes the next wait twice as long, so that a handshake gets its time in the end.
#ifndef UROCE_NIC_RESTART_PACE_H
#define UROCE_NIC_RESTART_PACE_H

#include <algorithm>
#include <chrono>

namespace uroce::nic {

class RestartPace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::milliseconds kLookInterval{500};  // for a server that is not there
  static constexpr std::chrono::milliseconds kPatienceMax{8'000};

  bool due(Time now) const { return now >= next_; }

  void connected() { patience_ = kLookInterval; }
  void looked(Time now) { next_ = now + kLookInterval; }
  // A handshake begins.
  void started(Time now) {
    next_ = now + patience_;
    patience_ = std::min(2 * patience_, kPatienceMax);
  }

 private:
  Time next_{};
  std::chrono::milliseconds patience_ = kLookInterval;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_RESTART_PACE_H
