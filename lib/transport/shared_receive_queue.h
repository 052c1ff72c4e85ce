// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues: one ring of receive WQEs for the queue pairs of one engine.
//
// A WQE is consumed when a queue pair takes it: it is copied into the queue pair's own receive
// queue, which has one slot then, and is from there on like any receive WQE of that queue pair. So
// any number of queue pairs may be in the middle of a message each, the shared ring's slots come
// back in order, and a queue pair that fails flushes what it has taken and nothing else.
//
// Resizing puts a ring behind the one in use: posters go on in the new one at once, the engine
// takes the old one's WQEs first and then never looks at it again. Nothing is copied, nobody waits.
// An engine that takes nothing is asked to leave empty rings, so that an idle queue keeps no more
// than the ring with its WQEs and the one that is posted to.
#ifndef UROCE_TRANSPORT_SHARED_RECEIVE_QUEUE_H
#define UROCE_TRANSPORT_SHARED_RECEIVE_QUEUE_H

#include <atomic>
#include <cstdint>

#include "transport/event_list.h"
#include "transport/work_queue.h"

namespace uroce::transport {

struct CompletionQueue;
struct QpContext;
struct TransportEnv;

// One ring: `producer` is the posters', `consumer` the engine's. Memory of the device.
struct SrqRing {
  ReceiveQueue queue;
  std::atomic<SrqRing*> next{nullptr};  // set once nothing more will be posted to this one

  uint32_t queued() const {
    const uint32_t taken = queue.consumer.load(std::memory_order_acquire);
    return queue.producer.load(std::memory_order_acquire) - taken;
  }
};

struct SharedReceiveQueue {
  // The ring that the engine takes from; it alone moves on. What is before it may be freed.
  std::atomic<SrqRing*> current{nullptr};
  // An event is due when fewer WQEs than this are left; 0: none is wanted. Armed by a control
  // thread, set back by the engine when the event is raised.
  std::atomic<uint32_t> limit{0};
  uint32_t pd = 0;       // in whose keys its scatter lists are
  uint32_t sge_max = 0;  // of a scatter list
  void* user = nullptr;  // the face's handle, for events
  EventSource events;    // the engine's: not fetched yet
  // XRC (xrc.h).
  uint32_t number = 0;            // 24 bits; 0: the queue is not one of XRC
  uint32_t domain = 0;            // never 0 then
  CompletionQueue* cq = nullptr;  // of the receives
};

// What posting threads know of it, under their lock.
struct SrqPoster {
  SrqRing* oldest = nullptr;   // the first that may hold WQEs
  SrqRing* posting = nullptr;  // the last, which is posted to

  // WQEs that nobody has taken yet.
  uint32_t queued() const;
  // Whether the WQE at index `tail` of the posting ring would be one too many.
  bool full_at(uint32_t tail);
  // Posts go to `ring` from now on, which is empty.
  void continue_in(SrqRing& ring);
};

// The engine: leaves the rings that are empty and have a successor, those behind the one in use as
// well: what cannot be reached from `current` any more may be freed.
void leave_empty_rings(SharedReceiveQueue& srq);

// The engine: moves the oldest WQE of qp.srq into the queue pair's own slot, which is empty. Raises
// SRQ_LIMIT_REACHED when that leaves fewer than the limit. False: there is none.
bool take_shared(QpContext& qp, TransportEnv& env);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_SHARED_RECEIVE_QUEUE_H
