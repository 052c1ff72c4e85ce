// SPDX-License-Identifier: BSD-3-Clause
// REG_MR: the checks, the grace period of the key before, and the publishing.
#include "memory/fast_region.h"

namespace uroce::memory {

Change register_fast(KeyTable& keys, const Changer& who, const FastRegistration& request) {
  KeySlot* slot = keys.slot_of(request.region);
  if (slot == nullptr || request.new_key.index() != request.region.index()) {
    return Change::kRefused;
  }
  if (request.length == 0 || request.length > UINT64_MAX - request.iova) return Change::kRefused;
  SlotControl control = slot->control.load(std::memory_order_acquire);
  if (!owned(control) || control.kind != KeyKind::kFastRegion) return Change::kRefused;
  if (slot->region.pd != who.pd) return Change::kRefused;
  const Change taken = take(*slot, control, who);
  if (taken != Change::kDone) return taken;
  slot->region.base = request.base;
  slot->region.iova = request.iova;
  slot->region.length = request.length;
  slot->region.access = request.access;
  go_live(*slot, control, request.new_key);
  return Change::kDone;
}

}  // namespace uroce::memory
