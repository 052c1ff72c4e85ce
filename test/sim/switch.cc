// SPDX-License-Identifier: BSD-3-Clause
// The output queues of the switch model.
#include "test/sim/switch.h"

#include <algorithm>

namespace uroce::sim {
namespace {

constexpr size_t kOverhead = 24;  // preamble, FCS, gap

}  // namespace

Switch::Output& Switch::output(Time now, size_t port) {
  if (outputs_.size() <= port) outputs_.resize(port + 1);
  Output& out = outputs_[port];
  while (!out.queue.empty() && out.queue.front().leaves <= now) {
    out.bytes -= out.queue.front().bytes;
    out.queue.pop_front();
  }
  return out;
}

std::optional<Time> Switch::enqueue(Time now, size_t port, size_t frame_bytes) {
  Output& out = output(now, port);
  if (out.bytes + frame_bytes > config_.queue_bytes) return std::nullopt;
  const uint64_t bits = (frame_bytes + kOverhead) * 8;
  const Duration span(static_cast<int64_t>(bits * 1000 / config_.mbps));
  out.free = std::max(out.free, now) + span;
  out.bytes += frame_bytes;
  out.queue.push_back({out.free, frame_bytes});
  return out.free;
}

bool Switch::pauses(Time now, size_t port) {
  return config_.pause_above != 0 && output(now, port).bytes > config_.pause_above;
}

}  // namespace uroce::sim
