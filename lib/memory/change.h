// SPDX-License-Identifier: BSD-3-Clause
// What work requests do to keys: who asks, what comes of it, and the step that all changes share.
//
// A slot that is to be written must be past its grace period. Where that has not passed, the change
// is not made yet: the caller asks again later, with the same arguments, and finds the slot as the
// first try left it.
#ifndef UROCE_MEMORY_CHANGE_H
#define UROCE_MEMORY_CHANGE_H

#include "base/grace_rounds.h"
#include "memory/key_table.h"

namespace uroce::memory {

// What a queue pair waits for: the slot's retirement, known by its count of changes, and a grace
// period of the own engine that was asked for later.
struct KeyWait {
  const KeySlot* slot = nullptr;  // nullptr: nothing
  uint32_t changes = 0;
  uint64_t ticket = 0;
};

// The queue pair that asks, and its engine.
struct Changer {
  uint32_t pd;
  Qpn qpn;
  uint32_t engine;
  GraceRounds& grace;
  KeyWait& wait;
};

enum class Change : uint8_t {
  kDone,
  kWait,     // for other engines: try again
  kRefused,  // nothing has changed
};

// Whether the slot has an owner now: then its kind and domain stay for this turn of the engine.
inline bool owned(const SlotControl& control) {
  return control.state == SlotState::kFree || control.state == SlotState::kLive ||
         control.state == SlotState::kRetired;
}

// Puts a slot whose key was just taken back (state kBusy, `control`) to rest. Returns the ticket
// that says when no engine uses any more what the key stood for.
inline uint64_t rest(KeySlot& slot, const SlotControl& control, const Changer& who) {
  const uint64_t ticket = who.grace.ask();
  slot.retired_by.store(uint64_t{who.engine} << kRetiredByShift | ticket,
                        std::memory_order_relaxed);
  slot.control.store(control.moved_to(SlotState::kRetired), std::memory_order_release);
  return ticket;
}

// Whether the grace period of a retired slot is over, as far as this engine can know. Somebody
// else's ticket means nothing here: then a period of our own counts, from when this retirement was
// first seen. It is noted with the queue pair, not in the slot, where two engines that wait for it
// would each undo what the other has waited for.
inline bool rested(const KeySlot& slot, const SlotControl& control, const Changer& who) {
  const uint64_t by = slot.retired_by.load(std::memory_order_relaxed);
  if (by >> kRetiredByShift == who.engine) {
    return who.grace.over(by & ((uint64_t{1} << kRetiredByShift) - 1));
  }
  KeyWait& wait = who.wait;
  if (wait.slot != &slot || wait.changes != control.changes) {
    wait = {&slot, control.changes, who.grace.ask()};
  }
  return who.grace.over(wait.ticket);
}

// Takes a slot without a valid key for writing: kDone leaves it kBusy, with `control` as it is
// then. kRefused: somebody else was quicker.
inline Change take(KeySlot& slot, SlotControl& control, const Changer& who) {
  if (control.state != SlotState::kFree && control.state != SlotState::kRetired) {
    return Change::kRefused;
  }
  if (control.state == SlotState::kRetired && !rested(slot, control, who)) return Change::kWait;
  const SlotControl busy = control.moved_to(SlotState::kBusy);
  if (!slot.control.compare_exchange_strong(control, busy, std::memory_order_acq_rel)) {
    return Change::kRefused;
  }
  control = busy;
  return Change::kDone;
}

// Makes the slot, which is kBusy and written, valid under `key`.
inline void go_live(KeySlot& slot, const SlotControl& control, Key key) {
  slot.current.store(key.value(), std::memory_order_relaxed);
  slot.key.store(key.value(), std::memory_order_release);
  slot.control.store(control.moved_to(SlotState::kLive), std::memory_order_release);
}

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_CHANGE_H
