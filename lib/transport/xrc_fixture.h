// SPDX-License-Identifier: BSD-3-Clause
// For tests: an XRC shared receive queue with its CQ, known to an engine.
#ifndef UROCE_TRANSPORT_XRC_FIXTURE_H
#define UROCE_TRANSPORT_XRC_FIXTURE_H

#include <cstdint>
#include <vector>

#include "base/aligned_block_fixture.h"
#include "transport/qp_memory.h"
#include "transport/transport_env.h"

namespace uroce::transport {

inline constexpr uint32_t kXrcDomain = 3;

class XrcQueue {
 public:
  static constexpr uint32_t kDepth = 8;
  static constexpr uint32_t kSges = 4;

  XrcQueue(TransportEnv& env, uint32_t number, uint32_t pd, uint32_t domain = kXrcDomain)
      : ring_block_(aligned_block(srq_ring_memory_bytes(kDepth, kSges))),
        cq_block_(aligned_block(cq_memory_bytes(256, 1))),
        env_(env) {
    SrqRing* const ring = carve_srq_ring(kDepth, kSges, ring_block_.get());
    poster_ = {ring, ring};
    srq.current.store(ring);
    srq.pd = pd;
    srq.sge_max = kSges;
    srq.user = &srq;
    srq.number = number;
    srq.domain = domain;
    srq.cq = carve_cq_memory(256, 1, cq_block_.get());
    srq.cq->user = srq.cq;
    env_.xrc_queues.add(srq);
  }
  XrcQueue(const XrcQueue&) = delete;
  XrcQueue& operator=(const XrcQueue&) = delete;
  ~XrcQueue() { cq_publish_all(env_); }

  bool full() { return poster_.full_at(poster_.posting->queue.producer.load()); }
  uint32_t queued() const { return poster_.queued(); }
  void post(uint64_t wr_id, const std::vector<memory::Sge>& sges) {
    ReceiveQueue& queue = poster_.posting->queue;
    const uint32_t tail = queue.producer.load();
    RecvWqe& wqe = queue.wqe(tail);
    wqe = {wr_id, 0, static_cast<uint32_t>(sges.size())};
    for (size_t i = 0; i < sges.size(); ++i) {
      wqe.sge_array()[i] = sges[i];
      wqe.length += sges[i].length;
    }
    queue.producer.store(tail + 1);
  }
  std::vector<Cqe> completions() {
    cq_publish_all(env_);
    std::vector<Cqe> out;
    cq_poll(*srq.cq, 1024, [&](const Cqe& cqe) { out.push_back(cqe); });
    return out;
  }

  SharedReceiveQueue srq;

 private:
  AlignedBlock ring_block_;
  AlignedBlock cq_block_;
  TransportEnv& env_;
  SrqPoster poster_;
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_XRC_FIXTURE_H
