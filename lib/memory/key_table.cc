// SPDX-License-Identifier: BSD-3-Clause
// The life of a slot as control threads see it, and access through windows.
#include "memory/key_table.h"

#include "base/assert.h"

namespace uroce::memory {

KeyTable::KeyTable(uint32_t capacity)
    : capacity_(capacity), slots_(std::make_unique<KeySlot[]>(size_t{capacity} + 1)) {
  UROCE_ASSERT(capacity > 0 && capacity < (1u << 24));
}

void KeyTable::publish(Key key, const Region& region) {
  UROCE_ASSERT(key.index() > 0 && key.index() <= capacity_ && region.pd != 0 &&
               region.pd < kWindowMark);
  KeySlot& slot = slots_[key.index()];
  const SlotControl control = slot.control.load(std::memory_order_relaxed);
  UROCE_ASSERT(control.state == SlotState::kEmpty);
  slot.region = region;
  slot.qpn.store(Qpn(), std::memory_order_relaxed);
  slot.current.store(key.value(), std::memory_order_relaxed);
  slot.key.store(key.value(), std::memory_order_release);
  slot.control.store({SlotState::kLive, KeyKind::kRegion, 0, control.changes + 1},
                     std::memory_order_release);
}

void KeyTable::open(Key key, KeyKind kind, uint32_t pd) {
  UROCE_ASSERT(key.index() > 0 && key.index() <= capacity_ && pd != 0 && pd < kWindowMark);
  KeySlot& slot = slots_[key.index()];
  const SlotControl control = slot.control.load(std::memory_order_relaxed);
  UROCE_ASSERT(control.state == SlotState::kEmpty);
  slot.region = Region{};
  slot.region.pd = is_window(kind) ? pd | kWindowMark : pd;
  slot.qpn.store(Qpn(), std::memory_order_relaxed);
  slot.current.store(key.value(), std::memory_order_relaxed);
  slot.control.store({SlotState::kFree, kind, 0, control.changes + 1}, std::memory_order_release);
}

bool KeyTable::retire(uint32_t index) {
  KeySlot& slot = slots_[index];
  SlotControl control = slot.control.load(std::memory_order_acquire);
  for (;;) {
    UROCE_ASSERT(control.state != SlotState::kEmpty && control.state != SlotState::kClosing);
    if (control.windows != 0) return false;
    if (control.state == SlotState::kBusy) {  // an engine is about to finish
      __builtin_ia32_pause();
      control = slot.control.load(std::memory_order_acquire);
      continue;
    }
    if (slot.control.compare_exchange_weak(control, control.moved_to(SlotState::kClosing),
                                           std::memory_order_acq_rel)) {
      break;
    }
  }
  slot.key.store(0, std::memory_order_release);
  if (control.state == SlotState::kLive && is_window(control.kind)) release_window(slot.parent);
  return true;
}

void KeyTable::revive(Key key) {
  KeySlot& slot = slots_[key.index()];
  const SlotControl control = slot.control.load(std::memory_order_relaxed);
  UROCE_ASSERT(control.state == SlotState::kClosing && control.kind == KeyKind::kRegion);
  slot.key.store(key.value(), std::memory_order_release);
  slot.control.store(control.moved_to(SlotState::kLive), std::memory_order_release);
}

Key KeyTable::close(uint32_t index) {
  KeySlot& slot = slots_[index];
  const SlotControl control = slot.control.load(std::memory_order_relaxed);
  UROCE_ASSERT(control.state == SlotState::kClosing);
  slot.control.store(control.moved_to(SlotState::kEmpty), std::memory_order_release);
  return Key(slot.current.load(std::memory_order_relaxed));
}

void KeyTable::end_binding(uint32_t index, Qpn qpn) {
  KeySlot& slot = slots_[index];
  SlotControl control = slot.control.load(std::memory_order_acquire);
  SlotControl busy;
  do {
    // A slot that changes just now is another queue pair's.
    if (control.state != SlotState::kLive || control.kind != KeyKind::kWindow2) return;
    if (slot.qpn.load(std::memory_order_relaxed) != qpn) return;
    busy = control.moved_to(SlotState::kBusy);
  } while (!slot.control.compare_exchange_weak(control, busy, std::memory_order_acq_rel));
  slot.key.store(0, std::memory_order_release);
  release_window(slot.parent);
  slot.retired_by.store(kRetiredByControl, std::memory_order_relaxed);
  slot.control.store(busy.moved_to(SlotState::kRetired), std::memory_order_release);
}

void KeyTable::unpublish(Key key) {
  UROCE_ASSERT(slots_[key.index()].key.load(std::memory_order_relaxed) == key.value());
  const bool retired = retire(key.index());
  UROCE_ASSERT(retired);
  close(key.index());
}

void KeyTable::release_window(uint32_t parent) {
  KeySlot& slot = slots_[parent];
  SlotControl control = slot.control.load(std::memory_order_relaxed);
  SlotControl next;
  do {
    UROCE_ASSERT(control.windows != 0);
    next = control.moved_to(control.state);
    --next.windows;
  } while (!slot.control.compare_exchange_weak(control, next, std::memory_order_acq_rel));
}

KeyVerdict KeyTable::translate_window(Key key, uint32_t pd, Qpn qpn, uint32_t wanted,
                                      uint64_t address, uint64_t length, uint8_t*& pointer) const {
  const KeySlot& slot = slots_[key.index()];
  // Once more: the bound window may have gone since the first look, to be another's by now only
  // after a grace period, which this engine's turn does not let pass.
  if (slot.key.load(std::memory_order_acquire) != key.value()) return KeyVerdict::kUnknownKey;
  if (slot.region.pd != (pd | kWindowMark)) return KeyVerdict::kWrongDomain;
  const Qpn binder = slot.qpn.load(std::memory_order_relaxed);
  if (binder != Qpn() && binder != qpn) return KeyVerdict::kWrongDomain;
  return locate(slot.region, wanted, address, length, pointer);
}

KeyVerdict KeyTable::whole(Key key, uint32_t pd, uint32_t wanted, std::span<uint8_t>& range) const {
  // The key first: of a slot that has another nothing may be read.
  uint8_t* first = nullptr;
  const KeyVerdict known = translate(key, pd, wanted, 0, 0, first);
  if (known != KeyVerdict::kGood && known != KeyVerdict::kOutOfRange) return known;
  const Region& region = slots_[key.index()].region;
  range = {region.base, region.length};
  return KeyVerdict::kGood;
}

}  // namespace uroce::memory
