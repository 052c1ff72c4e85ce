// SPDX-License-Identifier: BSD-3-Clause
// XRC targets: entering and leaving the shared receive queues that requests name.
#include "transport/xrc.h"

namespace uroce::transport {

bool enter_named_queue(QpContext& qp, const TransportEnv& env, const wire::ParsedFrame& frame) {
  if (frame.info->has(wire::kMiddle | wire::kLast)) return qp.srq != nullptr;
  SharedReceiveQueue* const srq = env.xrc_queues.find(frame.xrceth().srq_number);
  if (srq == nullptr || srq->domain != qp.xrc_domain) return false;
  qp.srq = srq;
  qp.recv_cq = srq->cq;
  qp.pd = qp.recv_pd = srq->pd;
  return true;
}

void leave_queue(QpContext& qp, const SharedReceiveQueue& srq) {
  if (qp.srq != &srq) return;
  qp.srq = nullptr;
  qp.recv_cq = nullptr;
  ReceiveQueue& own = qp.queues->recv;
  own.consumer.store(own.producer.load(std::memory_order_relaxed), std::memory_order_relaxed);
  qp.resp.recv_wqe_held = false;
}

}  // namespace uroce::transport
