// SPDX-License-Identifier: BSD-3-Clause
// LOCAL_INV and SEND with invalidate: the checks, and one compare-and-swap that decides.
#include "memory/invalidate.h"

namespace uroce::memory {
namespace {

constexpr uint32_t kRemoteRights = kRemoteWrite | kRemoteRead | kRemoteAtomic;

// The slot has been seen live under this very key, so what is read here stays for this turn.
bool permitted(const KeySlot& slot, const SlotControl& control, const Changer& who,
               InvalidatedBy by) {
  if (control.windows != 0) return false;
  if (control.kind == KeyKind::kWindow2) {
    return slot.region.pd == (who.pd | kWindowMark) &&
           slot.qpn.load(std::memory_order_relaxed) == who.qpn;
  }
  if (control.kind != KeyKind::kFastRegion || slot.region.pd != who.pd) return false;
  return by == InvalidatedBy::kOwner || (slot.region.access & kRemoteRights) != 0;
}

}  // namespace

Change invalidate(KeyTable& keys, const Changer& who, Key key, InvalidatedBy by, uint64_t& ticket) {
  KeySlot* slot = keys.slot_of(key);
  if (slot == nullptr) return Change::kRefused;
  SlotControl control = slot->control.load(std::memory_order_acquire);
  SlotControl busy;
  do {
    if (control.state != SlotState::kLive) return Change::kRefused;
    if (slot->key.load(std::memory_order_acquire) != key.value()) return Change::kRefused;
    if (!permitted(*slot, control, who, by)) return Change::kRefused;
    busy = control.moved_to(SlotState::kBusy);
  } while (!slot->control.compare_exchange_weak(control, busy, std::memory_order_acq_rel));
  slot->key.store(0, std::memory_order_release);
  if (is_window(control.kind)) keys.release_window(slot->parent);
  ticket = rest(*slot, busy, who);
  return Change::kDone;
}

}  // namespace uroce::memory
