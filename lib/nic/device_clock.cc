// SPDX-License-Identifier: BSD-3-Clause
// Readings, the line through two of them, and handing it to the threads that poll.
#include "nic/device_clock.h"

#include <algorithm>

namespace uroce::nic {
namespace {

constexpr int kReadings = 8;

bool same_length(uint64_t slope, uint64_t before) {
  const uint64_t apart = slope > before ? slope - before : before - slope;
  return before == 0 || apart <= before / 1000;
}

}  // namespace

// The device's clock was read somewhere between two looks at ours: of some readings, the one in
// which they lie closest together.
bool DeviceClock::sample(uint64_t& ticks, Time& at) const {
  Duration closest = Duration::max();
  for (int i = 0; i < kReadings; ++i) {
    uint64_t read = 0;
    const Time before = sources_.now(sources_.now_context);
    if (sources_.read_ticks(port_id_, &read) != 0) return false;
    const Duration width = sources_.now(sources_.now_context) - before;
    if (width >= closest) continue;
    closest = width;
    ticks = read;
    at = before + width / 2;
  }
  return true;
}

void DeviceClock::calibrate() {
  if (begun_ && sources_.now(sources_.now_context) - line_.at < kPeriod) return;
  ClockLine next;
  if (!sample(next.ticks, next.at)) return;
  if (begun_ && next.ticks > line_.ticks) {
    const auto ns = static_cast<uint64_t>((next.at - line_.at).count());
    const auto slope = static_cast<uint64_t>(
        (static_cast<unsigned __int128>(ns) << ClockLine::kSlopeBits) / (next.ticks - line_.ticks));
    if (same_length(slope, line_.slope)) next.slope = slope;
  }
  begun_ = true;
  line_ = next;
  publish(next);
}

void DeviceClock::publish(const ClockLine& line) {
  const uint32_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  ticks_.store(line.ticks, std::memory_order_relaxed);
  at_ns_.store(line.at.time_since_epoch().count(), std::memory_order_relaxed);
  slope_.store(line.slope, std::memory_order_relaxed);
  version_.store(version + 2, std::memory_order_release);
}

void DeviceClock::read(ClockLine& line) const {
  const uint32_t version = version_.load(std::memory_order_acquire);
  ClockLine found;
  found.ticks = ticks_.load(std::memory_order_relaxed);
  found.at = Time(Duration(at_ns_.load(std::memory_order_relaxed)));
  found.slope = slope_.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if ((version & 1) == 0 && version_.load(std::memory_order_relaxed) == version) line = found;
}

}  // namespace uroce::nic
