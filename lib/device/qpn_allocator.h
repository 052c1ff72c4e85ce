// SPDX-License-Identifier: BSD-3-Clause
// Which QPNs are handed out: a free context slot of an engine, and a random generation above it.
//
// As with keys, the free slots of each engine lie in a ring, shuffled once, a returned one goes to
// the end, and the next QPN on a slot has another generation: QPNs are neither consecutive nor
// reused at once.
#ifndef UROCE_DEVICE_QPN_ALLOCATOR_H
#define UROCE_DEVICE_QPN_ALLOCATOR_H

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/id_source.h"
#include "base/types.h"
#include "engine/engine.h"

namespace uroce::device {

class QpnAllocator {
 public:
  QpnAllocator(const engine::QpnLayout& layout, IdSource& ids);

  // Never 0, 1 or 0xFFFFFF. Nothing: this engine has no free slot.
  std::optional<Qpn> take(uint32_t engine);
  void give(Qpn qpn);
  bool has_free(uint32_t engine) const { return !free_[engine].empty(); }

  // The engine with the most free slots, the lowest of several; nothing when all are full.
  std::optional<uint32_t> emptiest_engine() const;

 private:
  const engine::QpnLayout layout_;
  const uint32_t generations_;
  IdSource& ids_;
  std::vector<std::deque<uint32_t>> free_;  // by engine: device-wide slots
  std::vector<uint32_t> last_generation_;   // by device-wide slot
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_QPN_ALLOCATOR_H
