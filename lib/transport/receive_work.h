// SPDX-License-Identifier: BSD-3-Clause
// The receive WQE that a message takes: the queue pair's own, or one of its shared receive queue.
#ifndef UROCE_TRANSPORT_RECEIVE_WORK_H
#define UROCE_TRANSPORT_RECEIVE_WORK_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"

namespace uroce::transport {

// Whether there is one; afterwards it lies at the head of the queue pair's own receive queue.
inline bool recv_wqe_there(QpContext& qp, TransportEnv& env) {
  ReceiveQueue& recv = qp.queues->recv;
  if (recv.posted(recv.consumer.load(std::memory_order_relaxed))) return true;
  return qp.srq != nullptr && take_shared(qp, env);
}

inline const RecvWqe& recv_wqe(const QpContext& qp) {
  const ReceiveQueue& recv = qp.queues->recv;
  return recv.wqe(recv.consumer.load(std::memory_order_relaxed));
}

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_RECEIVE_WORK_H
