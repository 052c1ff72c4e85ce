// SPDX-License-Identifier: BSD-3-Clause
// The slab of queue pair contexts and the layout of QPNs.
#include "engine/qp_table.h"

#include <bit>
#include <memory>

#include "base/assert.h"

namespace uroce::engine {

QpnLayout QpnLayout::of(const DeviceShared& shared) {
  const uint32_t slots = shared.engine_count * shared.qp_slots_per_engine;
  UROCE_ASSERT(std::has_single_bit(shared.qp_slots_per_engine) && slots >= 2 && slots <= 1u << 22);
  return {shared.qp_slots_per_engine, shared.engine_count,
          static_cast<uint32_t>(std::bit_width(slots - 1))};
}

QpTable::QpTable(const QpnLayout& layout, uint32_t index)
    : layout_(layout),
      index_(index),
      contexts_(std::make_unique<AlignedContext[]>(size_t{layout.slots_per_engine} + 1)) {}

transport::QpContext& QpTable::open(Qpn qpn) {
  AlignedContext& context = contexts_[layout_.slot_of(qpn)];
  UROCE_ASSERT(owns(qpn) && context.queues == nullptr);
  // In place: a context holds counters, which cannot be assigned.
  std::destroy_at(&context);
  std::construct_at(&context);
  context.qpn = qpn;
  return context;
}

void QpTable::close(transport::QpContext& qp) {
  qp.queues = nullptr;
  qp.user = nullptr;
  qp.send_cq = qp.recv_cq = nullptr;
}

}  // namespace uroce::engine
