// SPDX-License-Identifier: BSD-3-Clause
// What the engines of one device share, and how a QPN names an engine and a slot in it.
#ifndef UROCE_ENGINE_DEVICE_SHARED_H
#define UROCE_ENGINE_DEVICE_SHARED_H

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/epoch.h"
#include "base/types.h"
#include "engine/group_presence.h"
#include "memory/key_table.h"

namespace uroce::engine {

// Read-only or atomic. Outlives the engines.
struct DeviceShared {
  memory::KeyTable* keys = nullptr;
  uint32_t engine_count = 1;
  uint32_t qp_slots_per_engine = 1024;  // a power of two
  std::unique_ptr<GroupPresence> groups;
  // By engine; filled as the seats are made, before any engine is driven.
  std::vector<const EpochSlot*> epochs;
};

// QPN layout: the low bits are the device-wide slot (engine * qp_slots_per_engine + slot), the
// bits above a random generation. Slots whose QPN would be 0, 1 or 0xFFFFFF are never given out;
// QP 1 belongs to engine 0 and has a slot of its own behind the others.
struct QpnLayout {
  uint32_t slots_per_engine;  // a power of two
  uint32_t engine_count;
  uint32_t slot_bits;     // of the device-wide slot
  uint32_t engine_shift;  // log2 of slots_per_engine
  constexpr QpnLayout(uint32_t slots, uint32_t engines, uint32_t bits)
      : slots_per_engine(slots),
        engine_count(engines),
        slot_bits(bits),
        engine_shift(static_cast<uint32_t>(std::countr_zero(slots))) {}
  static QpnLayout of(const DeviceShared& shared);
  uint32_t device_slot(Qpn qpn) const { return qpn.value() & ((1u << slot_bits) - 1); }
  // May name an engine that does not exist, for a QPN that was never given out.
  uint32_t engine_of(Qpn qpn) const {
    return qpn == kGsiQpn ? 0 : device_slot(qpn) >> engine_shift;
  }
  // Also the number of the QP's doorbell.
  uint32_t slot_of(Qpn qpn) const {
    return qpn == kGsiQpn ? slots_per_engine : device_slot(qpn) & (slots_per_engine - 1);
  }
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_DEVICE_SHARED_H
