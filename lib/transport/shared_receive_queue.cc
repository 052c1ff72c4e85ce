// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues: taking, counting, going on in another ring.
//
// The engine leaves a ring only when it has a successor and is empty, looked at in this order: a
// poster's last WQE there is visible before the successor is.
#include "transport/shared_receive_queue.h"

#include <cstring>

#include "transport/qp_context.h"
#include "transport/transport_env.h"

namespace uroce::transport {
namespace {

// The ring whose oldest WQE is the next one; nullptr: nothing is posted.
SrqRing* ring_with_work(SharedReceiveQueue& srq) {
  SrqRing* ring = srq.current.load(std::memory_order_relaxed);
  for (;;) {
    SrqRing* const next = ring->next.load(std::memory_order_acquire);
    if (ring->queue.posted(ring->queue.consumer.load(std::memory_order_relaxed))) return ring;
    if (next == nullptr) return nullptr;
    srq.current.store(next, std::memory_order_release);
    ring = next;
  }
}

void check_limit(SharedReceiveQueue& srq, TransportEnv& env) {
  uint32_t limit = srq.limit.load(std::memory_order_relaxed);
  if (limit == 0) return;
  uint32_t left = 0;
  const SrqRing* ring = srq.current.load(std::memory_order_relaxed);
  for (; ring != nullptr; ring = ring->next.load(std::memory_order_acquire)) left += ring->queued();
  // A limit that was armed anew just now is judged when the next WQE is taken.
  if (left < limit && srq.limit.compare_exchange_strong(limit, 0, std::memory_order_relaxed)) {
    env.raise(srq.events, EventType::kSrqLimitReached, srq.user);
  }
}

}  // namespace

uint32_t SrqPoster::queued() const {
  uint32_t count = posting->queued();
  for (const SrqRing* ring = oldest; ring != posting; ring = ring->next) count += ring->queued();
  return count;
}

bool SrqPoster::full_at(uint32_t tail) {
  ReceiveQueue& queue = posting->queue;
  while (oldest != posting && oldest->queued() == 0) oldest = oldest->next;
  if (oldest == posting && tail - queue.cached_consumer < queue.depth) return false;
  queue.cached_consumer = queue.consumer.load(std::memory_order_acquire);
  uint32_t count = tail - queue.cached_consumer;
  for (const SrqRing* ring = oldest; ring != posting; ring = ring->next) count += ring->queued();
  return count >= queue.depth;
}

void SrqPoster::continue_in(SrqRing& ring) {
  posting->next.store(&ring, std::memory_order_release);
  posting = &ring;
}

void leave_empty_rings(SharedReceiveQueue& srq) {
  ring_with_work(srq);
  SrqRing* ring = srq.current.load(std::memory_order_relaxed);
  while (SrqRing* const next = ring->next.load(std::memory_order_acquire)) {
    SrqRing* const behind = next->next.load(std::memory_order_acquire);
    if (behind == nullptr) return;  // `next` is posted to
    if (next->queued() == 0) {
      ring->next.store(behind, std::memory_order_release);
    } else {
      ring = next;
    }
  }
}

bool take_shared(QpContext& qp, TransportEnv& env) {
  SrqRing* const ring = ring_with_work(*qp.srq);
  if (ring == nullptr) return false;
  ReceiveQueue& shared = ring->queue;
  const uint32_t index = shared.consumer.load(std::memory_order_relaxed);
  const RecvWqe& wqe = shared.wqe(index);
  ReceiveQueue& own = qp.queues->recv;
  const uint32_t slot = own.producer.load(std::memory_order_relaxed);
  std::memcpy(own.slot(slot), &wqe, sizeof(RecvWqe) + wqe.sge_count * sizeof(memory::Sge));
  own.cached_producer = slot + 1;
  own.producer.store(slot + 1, std::memory_order_relaxed);
  shared.consumer.store(index + 1, std::memory_order_release);
  check_limit(*qp.srq, env);
  return true;
}

}  // namespace uroce::transport
