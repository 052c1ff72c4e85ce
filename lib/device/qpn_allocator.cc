// SPDX-License-Identifier: BSD-3-Clause
// Which QPNs are handed out: the shuffle, the rings and the generations.
#include "device/qpn_allocator.h"

#include <utility>

#include "base/assert.h"

namespace uroce::device {
namespace {

bool reserved(uint32_t qpn) { return qpn <= 1 || qpn == kMulticastQpn.value(); }

}  // namespace

QpnAllocator::QpnAllocator(const engine::QpnLayout& layout, IdSource& ids)
    : layout_(layout),
      generations_(1u << (24 - layout.slot_bits)),
      ids_(ids),
      free_(layout.engine_count),
      last_generation_(size_t{layout.slots_per_engine} * layout.engine_count) {
  UROCE_ASSERT(generations_ > 2);  // QpnLayout leaves at least two bits
  for (uint32_t engine = 0; engine < layout.engine_count; ++engine) {
    std::deque<uint32_t>& slots = free_[engine];
    for (uint32_t slot = 0; slot < layout.slots_per_engine; ++slot) {
      const uint32_t device_slot = engine * layout.slots_per_engine + slot;
      slots.push_back(device_slot);
    }
    for (size_t i = slots.size(); i > 1; --i) {
      std::swap(slots[i - 1], slots[ids_.below(static_cast<uint32_t>(i))]);
    }
  }
  for (uint32_t& generation : last_generation_) generation = ids_.below(generations_);
}

std::optional<Qpn> QpnAllocator::take(uint32_t engine) {
  std::deque<uint32_t>& slots = free_[engine];
  if (slots.empty()) return std::nullopt;
  const uint32_t slot = slots.front();
  slots.pop_front();
  uint32_t& generation = last_generation_[slot];
  // Any other generation; the reserved QPNs are passed over, at most one for each slot.
  uint32_t step = 1 + ids_.below(generations_ - 1);
  const auto candidate = [&] { return (generation + step) % generations_; };
  while (reserved(candidate() << layout_.slot_bits | slot)) step = step % (generations_ - 1) + 1;
  generation = candidate();
  return Qpn(generation << layout_.slot_bits | slot);
}

void QpnAllocator::give(Qpn qpn) {
  free_[layout_.engine_of(qpn)].push_back(layout_.device_slot(qpn));
}

std::optional<uint32_t> QpnAllocator::emptiest_engine() const {
  std::optional<uint32_t> best;
  size_t most = 0;
  for (uint32_t engine = 0; engine < free_.size(); ++engine) {
    if (free_[engine].size() > most) {
      most = free_[engine].size();
      best = engine;
    }
  }
  return best;
}

}  // namespace uroce::device
