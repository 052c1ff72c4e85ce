// SPDX-License-Identifier: BSD-3-Clause
// Invalidation asked for by a peer.
#include "transport/remote_invalidate.h"

#include "memory/invalidate.h"
#include "transport/error_class.h"
#include "transport/response_queue.h"

namespace uroce::transport {

bool invalidate_for_peer(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  const memory::Changer who{qp.pd, qp.qpn, env.engine_index, env.grace, qp.req.key_wait};
  uint64_t ticket = 0;
  const memory::Change change =
      memory::invalidate(*env.keys, who, frame.ieth().rkey, memory::InvalidatedBy::kPeer, ticket);
  if (change == memory::Change::kDone) {
    if (ticket != 0) cq_hold(env, *qp.recv_cq, ticket);
    return true;
  }
  if (frame.ack_request()) owe_acknowledge(qp, frame.psn);
  qp.resp.recv_wqe_held = true;
  fail_receive(qp, env, WcStatus::kRemInvReqErr);
  return false;
}

}  // namespace uroce::transport
