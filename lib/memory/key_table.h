// SPDX-License-Identifier: BSD-3-Clause
// The device's table of L_Keys and R_Keys: written by control threads, and by engines for work
// requests that change keys; read by every engine.
//
// A slot is published by one release store of its key and read with one acquire load and a
// full-key compare; there is no reference count and no lock. A key that was unpublished may still
// be in use by an engine that looked it up before: the slot is written again only after a grace
// period (base/epoch.h), which is the duty of whoever writes.
//
// Who may write is settled by one word per slot, the control word: its state, its kind, the number
// of windows bound to it, and a count of changes. Every change is a compare-and-swap of the whole
// word, so two engines and a control thread that want to change one slot agree: one of them does,
// and the others see what became of it. In particular a window cannot be bound to a region in the
// same moment in which that is invalidated or deregistered.
#ifndef UROCE_MEMORY_KEY_TABLE_H
#define UROCE_MEMORY_KEY_TABLE_H

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "base/types.h"
#include "memory/region.h"

namespace uroce::memory {

enum class KeyVerdict : uint8_t {
  kGood,
  kUnknownKey,   // no such key, or no longer
  kWrongDomain,  // of another protection domain; a window of another queue pair
  kNoAccess,     // a right that was asked for is missing
  kOutOfRange,   // not wholly inside the region
};

enum class KeyKind : uint8_t {
  kRegion,      // registered once, by a control thread
  kFastRegion,  // registered and invalidated by work requests
  kWindow1,     // bound again at will, good for all queue pairs of its domain
  kWindow2,     // type 2B: bound once, then invalidated; good for the queue pair that bound it
};
constexpr bool is_window(KeyKind kind) {
  return kind == KeyKind::kWindow1 || kind == KeyKind::kWindow2;
}

enum class SlotState : uint8_t {
  kEmpty,    // nobody's
  kFree,     // has an owner and no valid key
  kBusy,     // being changed, for a few instructions
  kLive,     // its key is valid
  kRetired,  // as kFree, but an engine may still use what the key stood for
  kClosing,  // taken out of use by a control thread
};

// The control word.
struct SlotControl {
  SlotState state = SlotState::kEmpty;
  KeyKind kind = KeyKind::kRegion;
  uint16_t windows = 0;  // bound to this region
  uint32_t changes = 0;
  SlotControl moved_to(SlotState next) const { return {next, kind, windows, changes + 1}; }
};
static_assert(sizeof(SlotControl) == 8);

struct alignas(64) KeySlot {
  std::atomic<uint32_t> key{0};  // 0: not valid
  std::atomic<Qpn> qpn{Qpn()};   // of a type 2B window: the queue pair that bound it; else 0
  Region region;                 // `pd` stays while the slot has an owner; a window's is marked
  std::atomic<SlotControl> control{SlotControl{}};
  // kRetired: the engine << kRetiredByShift | its ticket (GraceRounds), or kRetiredByControl.
  std::atomic<uint64_t> retired_by{0};
  std::atomic<uint32_t> current{0};  // the valid key or, without one, the last
  uint32_t parent = 0;               // of a bound window: index of its region's slot
};
static_assert(sizeof(KeySlot) == 64);

// In KeySlot::retired_by. A control thread counts as an engine that does not exist.
inline constexpr uint32_t kRetiredByShift = 56;
inline constexpr uint64_t kRetiredByControl = ~uint64_t{0};

// In KeySlot::region.pd of windows, which so are of no queue pair's domain on the common path.
inline constexpr uint32_t kWindowMark = 1u << 31;

class KeyTable {
 public:
  // Slots 1 … capacity; slot 0 is never valid. Allocates here only. capacity < 2^24.
  explicit KeyTable(uint32_t capacity);

  uint32_t capacity() const { return capacity_; }

  // --- control threads, one at a time ---

  // The slot must be empty and past its grace period.
  void publish(Key key, const Region& region);
  // A fast region or a window without a valid key. `key`: the one that it counts as having had.
  void open(Key key, KeyKind kind, uint32_t pd);
  // Ends the validity of the slot's key, whatever it is; a bound window is unbound. False: windows
  // are bound to it, and nothing has happened.
  bool retire(uint32_t index);
  // Behind retire(), without a grace period: all is as before. For publish()ed regions.
  void revive(Key key);
  // Behind retire() and a grace period: the slot is empty. Returns the key that it had last.
  Key close(uint32_t index);
  // Takes back the key of a type 2B window that `qpn` has bound; nothing happens to any other slot.
  // No engine knows that queue pair any more, so none accesses memory through the window.
  void end_binding(uint32_t index, Qpn qpn);
  // retire() and close() of a region without windows; the grace period is the caller's duty.
  void unpublish(Key key);

  // --- any engine ---

  // By L_Key. On kGood `pointer` is where `address` lies in this process. `wanted` is a mask of
  // Access; the whole of [address, address + length) must lie inside the region (no wrap-around).
  // A window is unknown here: kWrongDomain.
  KeyVerdict translate(Key key, uint32_t pd, uint32_t wanted, uint64_t address, uint64_t length,
                       uint8_t*& pointer) const {
    if (key.index() == 0 || key.index() > capacity_) return KeyVerdict::kUnknownKey;
    const KeySlot& slot = slots_[key.index()];
    if (slot.key.load(std::memory_order_acquire) != key.value()) return KeyVerdict::kUnknownKey;
    if (slot.region.pd != pd) return KeyVerdict::kWrongDomain;
    return locate(slot.region, wanted, address, length, pointer);
  }
  // By a peer's R_Key, of a region or of a window, at queue pair `qpn`. `wanted` is not 0.
  KeyVerdict translate_remote(Key key, uint32_t pd, Qpn qpn, uint32_t wanted, uint64_t address,
                              uint64_t length, uint8_t*& pointer) const {
    const KeyVerdict verdict = translate(key, pd, wanted, address, length, pointer);
    if (verdict != KeyVerdict::kWrongDomain) [[likely]]
      return verdict;
    return translate_window(key, pd, qpn, wanted, address, length, pointer);
  }

  // translate() for a request that names no range: all that the key opens is `range` on kGood.
  KeyVerdict whole(Key key, uint32_t pd, uint32_t wanted, std::span<uint8_t>& range) const;

  // For memory/change.h: the slot of a key, nullptr when there is none.
  KeySlot* slot_of(Key key) {
    return key.index() == 0 || key.index() > capacity_ ? nullptr : &slots_[key.index()];
  }
  // The valid key of the slot that `key` names or, without one, the last.
  Key present_key(Key key) const {
    if (key.index() == 0 || key.index() > capacity_) return key;
    return Key(slots_[key.index()].current.load(std::memory_order_relaxed));
  }
  // A window that was bound to it no longer is.
  void release_window(uint32_t parent);

 private:
  static KeyVerdict locate(const Region& region, uint32_t wanted, uint64_t address, uint64_t length,
                           uint8_t*& pointer) {
    if ((wanted & region.access) != wanted) return KeyVerdict::kNoAccess;
    const uint64_t offset = address - region.iova;
    if (address < region.iova || offset > region.length || length > region.length - offset) {
      return KeyVerdict::kOutOfRange;
    }
    // As numbers: the region of the whole address space begins at the null pointer.
    pointer = reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(region.base) + offset);
    return KeyVerdict::kGood;
  }
  KeyVerdict translate_window(Key key, uint32_t pd, Qpn qpn, uint32_t wanted, uint64_t address,
                              uint64_t length, uint8_t*& pointer) const;

  const uint32_t capacity_;
  const std::unique_ptr<KeySlot[]> slots_;
};

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_KEY_TABLE_H
