// SPDX-License-Identifier: BSD-3-Clause
// Local operations: in order with their neighbours, though they take no PSN.
//
// An executed one is a begun WQE of 0 packets. While it is not the oldest it waits in the queue
// like a request that is not acknowledged; the completer completes it together with the one before
// it, so the oldest begun WQE is never a local operation.
//
// Memory that a key stood for may be in another engine's hands for the rest of its turn. What says
// that the key is gone, the completion, is held back until then (cq_hold); what needs the key's
// slot again waits at the cursor and looks every few microseconds.
//
// A bind means its window, not the key that it was posted under: that is the window's only when all
// binds posted before have succeeded, and one may have failed or been flushed on any queue pair.
#include "transport/local_operation.h"

#include "memory/fast_region.h"
#include "memory/invalidate.h"
#include "memory/window.h"
#include "transport/completer.h"
#include "transport/error_class.h"
#include "transport/requester.h"

namespace uroce::transport {
namespace {

using memory::Change;

constexpr Duration kLookAgain = std::chrono::microseconds(2);

Change execute(QpContext& qp, TransportEnv& env, const SendWqe& wqe) {
  const memory::Changer who{qp.pd, qp.qpn, env.engine_index, env.grace, qp.req.key_wait};
  uint64_t ticket = 0;
  Change change = Change::kRefused;
  if (wqe.opcode == WrOpcode::kLocalInvalidate) {
    change =
        memory::invalidate(*env.keys, who, Key(wqe.rkey), memory::InvalidatedBy::kOwner, ticket);
  } else {
    const LocalOperation& op = qp.queues->send.local_operation(wqe);
    if (wqe.opcode == WrOpcode::kRegMr) {
      change = memory::register_fast(
          *env.keys, who,
          {op.base, op.address, op.length, Key(wqe.rkey), Key(op.new_key), op.access});
    } else {
      change = memory::bind_window(*env.keys, who,
                                   {op.address, op.length, env.keys->present_key(Key(wqe.rkey)),
                                    Key(op.new_key), Key(op.region), op.access},
                                   ticket);
    }
  }
  if (ticket != 0) cq_hold(env, *qp.send_cq, ticket);
  return change;
}

}  // namespace

bool local_operation_ready(const QpContext& qp, const SendWqe& wqe) {
  return wqe.opcode != WrOpcode::kLocalInvalidate ||
         qp.req.next_index == qp.queues->send.consumer.load(std::memory_order_relaxed);
}

void pass_local_operation(QpContext& qp, TransportEnv& env) {
  RequesterState& req = qp.req;
  const SendQueue& send = qp.queues->send;
  const uint32_t index = req.next_index;
  if (index != req.begun_index) {
    ++req.next_index;
    return;
  }
  const SendWqe& wqe = send.wqe(index);
  const Change change = execute(qp, env, wqe);
  if (change == Change::kRefused) {
    const bool binds = wqe.opcode == WrOpcode::kBindMw;
    refuse_request(qp, env, binds ? WcStatus::kMwBindErr : WcStatus::kLocQpOpErr);
    return;
  }
  req.keys_until = change == Change::kWait ? env.now + kLookAgain : kNever;
  if (change == Change::kWait) return;
  qp.queues->progress[index & send.mask] = {req.next_psn, 0};
  ++req.begun_index;
  ++req.next_index;
  if (index != send.consumer.load(std::memory_order_relaxed)) return;
  if (!complete_oldest_send(qp, env, WcStatus::kSuccess)) enter_error(qp, env);
}

}  // namespace uroce::transport
