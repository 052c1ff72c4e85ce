// SPDX-License-Identifier: BSD-3-Clause
// Resizing a completion queue while engines fill it and a consumer empties it.
#ifndef UROCE_TRANSPORT_COMPLETION_RESIZE_H
#define UROCE_TRANSPORT_COMPLETION_RESIZE_H

#include <cstddef>
#include <cstdint>

#include "transport/completion_queue.h"

namespace uroce::transport {

// Entries that the ring of each lane must have, for a queue of `depth` entries that had
// `depth_before`: until the engine goes over to it, as many as before may come to wait.
uint32_t resized_entries(uint32_t depth_before, uint32_t depth);

// Engine: its lane is filled in `ring` (resized_entries long, a power of two) from now on and holds
// as many entries as before. 0, or -EBUSY: the consumer has not yet followed the last time.
int cq_switch_ring(TransportEnv& env, CompletionQueue& cq, Cqe* ring, uint32_t entries);

// A control thread, when every lane is filled in such a ring: all hold `depth` entries from now on.
void cq_set_depth(CompletionQueue& cq, uint32_t depth);

// Consumer side: goes over to every ring that was switched. The rings before are not read any more.
void cq_follow_all(CompletionQueue& cq);

// Consumer side: entries that wait in the fullest lane.
uint32_t cq_most_waiting(const CompletionQueue& cq);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_COMPLETION_RESIZE_H
