// SPDX-License-Identifier: BSD-3-Clause
// The one block of memory that a queue pair's rings and side arrays live in.
#ifndef UROCE_TRANSPORT_QP_MEMORY_H
#define UROCE_TRANSPORT_QP_MEMORY_H

#include <cstddef>
#include <cstdint>

#include "transport/qp_context.h"

namespace uroce::transport {

// Bytes (a multiple of 64) for a queue pair of this type and capabilities. Capabilities are in
// range already (the device's limits); the granted ones are never smaller than asked.
size_t qp_memory_bytes(QpType type, const QpCapabilities& capabilities);

// Builds the queues in `block` (64-byte aligned, zeroed, qp_memory_bytes long) and returns the
// QpQueues at its start. The caller frees the block when the engine has given the QP back.
QpQueues* carve_qp_memory(QpType type, const QpCapabilities& capabilities, void* block);

// The same for one ring of a shared receive queue of `depth` WQEs of up to `sge_max` pieces.
size_t srq_ring_memory_bytes(uint32_t depth, uint32_t sge_max);
SrqRing* carve_srq_ring(uint32_t depth, uint32_t sge_max, void* block);

// The same for a completion queue of `depth` entries with one lane per engine.
size_t cq_memory_bytes(uint32_t depth, uint32_t lanes);
CompletionQueue* carve_cq_memory(uint32_t depth, uint32_t lanes, void* block);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_QP_MEMORY_H
