// SPDX-License-Identifier: BSD-3-Clause
// An engine with a thread of its own, which drives it as a worker does and feeds it full bursts of
// datagrams to a group, as fast as it takes them.
#ifndef UROCE_TEST_PERF_BUSY_ENGINE_H
#define UROCE_TEST_PERF_BUSY_ENGINE_H

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/seat.h"
#include "wire/frame.h"

namespace uroce::perf {

// What the datagrams carry; whoever is to get them has these.
inline const Gid kLoadGroup = Gid::from_ipv4(0xEF010203);
inline constexpr uint32_t kLoadQkey = 0x22222222;

class BusyEngine {
 public:
  enum class Load : uint8_t {
    kParked,  // the thread sleeps: control calls would wait for ever
    kIdle,    // it answers control calls
    kFull,    // it has a burst of frames in every turn, too
  };

  explicit BusyEngine(engine::EngineSeat& seat);
  ~BusyEngine();
  BusyEngine(const BusyEngine&) = delete;
  BusyEngine& operator=(const BusyEngine&) = delete;

  void set_load(Load load);
  // Datagrams that a member of the group was looked for; any thread.
  uint64_t frames() const { return seat_.engine().counters().multicast_received.value(); }
  pthread_t thread() { return thread_.native_handle(); }
  static Time now();

 private:
  static constexpr uint32_t kBurst = 32;

  void run();
  void turn(Time time, bool full);
  void transmit(Time time);

  engine::EngineSeat& seat_;
  const std::vector<uint8_t> frame_;
  std::array<RxFrame, kBurst> frames_;
  std::vector<std::vector<uint8_t>> rooms_;
  std::atomic<Load> load_{Load::kIdle};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_BUSY_ENGINE_H
