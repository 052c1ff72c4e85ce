// SPDX-License-Identifier: BSD-3-Clause
// ACK timeout and RNR waits.
//
// One ACK timer per queue pair, as long as the timeout attribute says, the same for every retry. It
// starts with a packet that asks for an answer, starts anew with every progress, and stops when
// nothing is outstanding. While an RNR wait runs nothing of the queue pair is on its way, and the
// ACK timer stands still.
#include "transport/retry.h"

#include <algorithm>

#include "transport/error_class.h"
#include "transport/recovery.h"
#include "transport/requester.h"
#include "transport/responder.h"
#include "transport/tail_probe.h"

namespace uroce::transport {

Duration ack_timeout(uint8_t code) {
  if (code == 0) return Duration::max();
  return Duration(int64_t{4096} << (code & 31));
}

// In steps of 10 us: 1, then 2, 3, 4, 6, 8, 12, … doubling every second code; 0 goes on after 31.
Duration rnr_delay(uint8_t code) {
  const uint32_t n = (code & 31) == 0 ? 32 : code & 31u;
  const int64_t steps = (int64_t{2 + (n & 1)} << (n / 2)) / 2;
  return std::chrono::microseconds(10 * steps);
}

Time next_deadline(const QpContext& qp) {
  const RequesterState& req = qp.req;
  return std::min({req.ack_deadline, req.rnr_until, req.keys_until, req.probe_deadline,
                   qp.resp.flush.next_part});
}

void handle_deadline(QpContext& qp, TransportEnv& env) {
  RequesterState& req = qp.req;
  if (env.now >= qp.resp.flush.next_part) continue_flush(qp, env);
  if (env.now >= req.keys_until) req.keys_until = kNever;
  if (env.now >= req.rnr_until) req.rnr_until = kNever;  // the cursor stands at the refused packet
  if (env.now >= req.ack_deadline) {
    ++env.counters->local_ack_timeout_err;
    send_again(qp, env, true);
  } else if (env.now >= req.probe_deadline) {
    probe(qp, env);
  }
}

bool spend_retry(QpContext& qp, TransportEnv& env) {
  RequesterState& req = qp.req;
  if (req.retry_left == 0) {
    give_up(qp, env, WcStatus::kRetryExcErr, req.unacked_psn);
    return false;
  }
  --req.retry_left;
  return true;
}

void send_again(QpContext& qp, TransportEnv& env, bool spend) {
  RequesterState& req = qp.req;
  if (spend && !spend_retry(qp, env)) return;
  end_recovery(req);
  restart_timers(req);
  go_back(qp);
  req.recovering = true;
  req.recovery_psn = req.unacked_psn;
}

void arm_ack_timer(QpContext& qp, Time now) {
  const uint8_t code = qp.attributes.timeout;
  qp.req.ack_deadline = code == 0 ? kNever : now + ack_timeout(code);
  qp.req.ack_shifted = Duration{};
}

void shift_ack_deadline(QpContext& qp, Duration gap) {
  RequesterState& req = qp.req;
  if (req.ack_deadline == kNever) return;
  // A caller that always comes late must not put the timer off for ever: once the gaps add up to a
  // whole timeout it runs on.
  if (req.ack_shifted >= ack_timeout(qp.attributes.timeout)) return;
  req.ack_deadline += gap;
  req.ack_shifted += gap;
}

}  // namespace uroce::transport
