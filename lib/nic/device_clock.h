// SPDX-License-Identifier: BSD-3-Clause
// The clock of a port that stamps what it receives, told in the engines' time.
//
// A port counts ticks of a length that only it knows. Both clocks are read together about once a
// second; the straight line through the last two readings says what a stamp means until the next.
// A stamp is then right to a few microseconds against the engines' clock, which is how exactly a
// device's clock can be read over its bus, and to about a millionth against its neighbours.
#ifndef UROCE_NIC_DEVICE_CLOCK_H
#define UROCE_NIC_DEVICE_CLOCK_H

#include <atomic>
#include <cstdint>

#include "base/types.h"

namespace uroce::nic {

// What the clock is read by: the port's ticks (0, or a negative errno) and the engines' time.
struct ClockSources {
  int (*read_ticks)(uint16_t port_id, uint64_t* ticks) = nullptr;
  Time (*now)(void* context) = nullptr;
  void* now_context = nullptr;
};

// Engine time as a line over ticks.
struct ClockLine {
  uint64_t ticks = 0;  // a point of it: these ticks …
  Time at{};           // … at this time
  uint64_t slope = 0;  // nanoseconds a tick, kSlopeBits of them behind the point; 0: not known

  static constexpr unsigned kSlopeBits = 32;
  bool known() const { return slope != 0; }
  Time time_of(uint64_t stamp) const {
    const auto past = static_cast<int64_t>(stamp - ticks);
    return at + Duration(static_cast<int64_t>((static_cast<__int128>(past) * slope) >> kSlopeBits));
  }
};

class DeviceClock {
 public:
  static constexpr Duration kPeriod{1'000'000'000};

  DeviceClock(uint16_t port_id, const ClockSources& sources)
      : port_id_(port_id), sources_(sources) {}

  // One control thread: reads both clocks when the last reading is kPeriod old. A clock that was
  // set (its ticks go back, or their length has changed by more than a thousandth) is not known
  // until the reading after that.
  void calibrate();

  // Any thread, without waiting: renews `line`, or leaves it as it is while another is being
  // written.
  void read(ClockLine& line) const;

 private:
  bool sample(uint64_t& ticks, Time& at) const;
  void publish(const ClockLine& line);

  const uint16_t port_id_;
  const ClockSources sources_;
  bool begun_ = false;
  ClockLine line_;  // the writer's copy, through the last reading
  // Odd while the line is being written.
  std::atomic<uint32_t> version_{0};
  std::atomic<uint64_t> ticks_{0};
  std::atomic<int64_t> at_ns_{0};
  std::atomic<uint64_t> slope_{0};
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_DEVICE_CLOCK_H
