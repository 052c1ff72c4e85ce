// SPDX-License-Identifier: BSD-3-Clause
// Binding and unbinding windows.
//
// A window's slot is an entry like a region's, with base and addresses of its own, so access
// through it costs what access to a region costs. A bind (1) judges everything; (2) takes back the
// window's present key (type 1); (3) waits until no engine uses that any more; (4) counts itself at
// the region, which from then on is neither deregistered nor invalidated; (5) publishes. While (3)
// lasts the caller asks again, and (1) is judged anew.
#include "memory/window.h"

namespace uroce::memory {
namespace {

constexpr uint32_t kRights = kRemoteWrite | kRemoteRead | kRemoteAtomic;
constexpr uint16_t kWindowsMax = UINT16_MAX;

bool window_permits(const KeySlot& slot, const SlotControl& control, const Changer& who,
                    const WindowBind& bind) {
  if (!owned(control) || !is_window(control.kind)) return false;
  if (slot.region.pd != (who.pd | kWindowMark)) return false;
  if (slot.current.load(std::memory_order_relaxed) != bind.window.value()) return false;
  if (bind.new_key.index() != bind.window.index()) return false;
  if ((bind.access & ~(kRights | kZeroBased)) != 0) return false;
  if (control.kind == KeyKind::kWindow1) return (bind.access & kZeroBased) == 0;
  return control.state != SlotState::kLive && bind.length != 0;
}

// The region's slot if it may have the window; `control` as it was then.
KeySlot* region_for(KeyTable& keys, const Changer& who, const WindowBind& bind,
                    SlotControl& control) {
  KeySlot* slot = keys.slot_of(bind.region);
  if (slot == nullptr) return nullptr;
  control = slot->control.load(std::memory_order_acquire);
  if (control.state != SlotState::kLive || control.windows == kWindowsMax) return nullptr;
  if (slot->key.load(std::memory_order_acquire) != bind.region.value()) return nullptr;
  const Region& region = slot->region;
  if (is_window(control.kind) || region.pd != who.pd) return nullptr;
  if ((region.access & kMwBind) == 0 || (region.access & kZeroBased) != 0) return nullptr;
  const bool writes = (bind.access & (kRemoteWrite | kRemoteAtomic)) != 0;
  if (writes && (region.access & kLocalWrite) == 0) return nullptr;
  const uint64_t offset = bind.address - region.iova;
  const bool inside = bind.address >= region.iova && offset <= region.length &&
                      bind.length <= region.length - offset;
  return inside ? slot : nullptr;
}

// Counts the window at its region.
bool enter(KeyTable& keys, const Changer& who, const WindowBind& bind) {
  for (;;) {
    SlotControl control;
    KeySlot* slot = region_for(keys, who, bind, control);
    if (slot == nullptr) return false;
    SlotControl next = control.moved_to(SlotState::kLive);
    ++next.windows;
    if (slot->control.compare_exchange_weak(control, next, std::memory_order_acq_rel)) return true;
  }
}

// Takes back the valid key of a type 1 window. False: somebody else was quicker.
bool unbind(KeyTable& keys, const Changer& who, KeySlot& slot, SlotControl& control,
            uint64_t& ticket) {
  const SlotControl busy = control.moved_to(SlotState::kBusy);
  if (!slot.control.compare_exchange_strong(control, busy, std::memory_order_acq_rel)) {
    return false;
  }
  slot.key.store(0, std::memory_order_release);
  keys.release_window(slot.parent);
  ticket = rest(slot, busy, who);
  control = busy.moved_to(SlotState::kRetired);
  return true;
}

// The rest of an unbinding: the window goes by its new key from now on.
Change rename(KeySlot& slot, SlotControl control, Key key) {
  const SlotControl busy = control.moved_to(SlotState::kBusy);
  if (!slot.control.compare_exchange_strong(control, busy, std::memory_order_acq_rel)) {
    return Change::kRefused;
  }
  slot.current.store(key.value(), std::memory_order_relaxed);
  slot.control.store(busy.moved_to(control.state), std::memory_order_release);
  return Change::kDone;
}

void write(KeyTable& keys, const Changer& who, KeySlot& slot, KeyKind kind,
           const WindowBind& bind) {
  const Region& region = keys.slot_of(bind.region)->region;
  slot.region.base = region.base + (bind.address - region.iova);
  slot.region.iova = (bind.access & kZeroBased) != 0 ? 0 : bind.address;
  slot.region.length = bind.length;
  slot.region.access = bind.access & kRights;
  slot.parent = bind.region.index();
  slot.qpn.store(kind == KeyKind::kWindow2 ? who.qpn : Qpn(), std::memory_order_relaxed);
}

}  // namespace

Change bind_window(KeyTable& keys, const Changer& who, const WindowBind& bind, uint64_t& ticket) {
  ticket = 0;
  KeySlot* slot = keys.slot_of(bind.window);
  if (slot == nullptr) return Change::kRefused;
  SlotControl control = slot->control.load(std::memory_order_acquire);
  if (!window_permits(*slot, control, who, bind)) return Change::kRefused;
  SlotControl unused;
  if (bind.length != 0 && region_for(keys, who, bind, unused) == nullptr) return Change::kRefused;

  if (control.state == SlotState::kLive && !unbind(keys, who, *slot, control, ticket)) {
    return Change::kRefused;
  }
  if (bind.length == 0) return rename(*slot, control, bind.new_key);
  const Change taken = take(*slot, control, who);
  if (taken != Change::kDone) return taken;
  if (!enter(keys, who, bind)) {
    rest(*slot, control, who);
    return Change::kRefused;
  }
  write(keys, who, *slot, control.kind, bind);
  go_live(*slot, control, bind.new_key);
  return Change::kDone;
}

}  // namespace uroce::memory
