// SPDX-License-Identifier: BSD-3-Clause
// The engine's queue pair contexts: a slab in which the QPN says where a context lies.
//
// The slot is cut out of the QPN (QpnLayout), so a lookup computes an address, which can be
// prefetched long before it is needed, and then compares the full QPN: the generation bits tell a
// queue pair from those that had its slot before. There is no hash, no probe and no pointer array.
#ifndef UROCE_ENGINE_QP_TABLE_H
#define UROCE_ENGINE_QP_TABLE_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/types.h"
#include "engine/device_shared.h"
#include "transport/qp_context.h"

namespace uroce::engine {

class QpTable {
 public:
  // Allocates all contexts of engine `index`.
  QpTable(const QpnLayout& layout, uint32_t index);

  const QpnLayout& layout() const { return layout_; }
  // Whether this engine is the QPN's, be there such a queue pair or not.
  bool owns(Qpn qpn) const { return layout_.engine_of(qpn) == index_; }
  // Slots, that of QP 1 included.
  uint32_t slot_count() const { return layout_.slots_per_engine + 1; }

  // The queue pair, or nullptr: also when it is another engine's.
  transport::QpContext* find(Qpn qpn) {
    if (!owns(qpn)) return nullptr;
    transport::QpContext& qp = contexts_[layout_.slot_of(qpn)];
    return qp.queues != nullptr && qp.qpn == qpn ? &qp : nullptr;
  }
  const transport::QpContext* find(Qpn qpn) const { return const_cast<QpTable*>(this)->find(qpn); }

  // Whatever is in the slot; `queues` is nullptr when nothing is.
  transport::QpContext& at(uint32_t slot) { return contexts_[slot]; }
  uint32_t slot_of(const transport::QpContext& qp) const { return layout_.slot_of(qp.qpn); }

  // Pulls the lines that every packet needs towards the CPU. owns(qpn) must hold. Always inlined:
  // to the compiler a function that does nothing else has no effect, and its calls would go.
  [[gnu::always_inline]] void prefetch(Qpn qpn) const { prefetch_slot(layout_.slot_of(qpn)); }
  [[gnu::always_inline]] void prefetch_slot(uint32_t slot) const {
    const auto* context = reinterpret_cast<const char*>(&contexts_[slot]);
    __builtin_prefetch(context);
    __builtin_prefetch(context + offsetof(transport::QpContext, attributes));
    __builtin_prefetch(context + offsetof(transport::QpContext, req));
    __builtin_prefetch(context + offsetof(transport::QpContext, resp));
  }

  // A fresh context in the QPN's slot, which must be free.
  transport::QpContext& open(Qpn qpn);
  // The slot is free again.
  void close(transport::QpContext& qp);

 private:
  struct alignas(64) AlignedContext : transport::QpContext {};

  const QpnLayout layout_;
  const uint32_t index_;
  const std::unique_ptr<AlignedContext[]> contexts_;
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_QP_TABLE_H
