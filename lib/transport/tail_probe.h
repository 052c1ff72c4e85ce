// SPDX-License-Identifier: BSD-3-Clause
// Losses that nobody names: the round trip is measured, and when an answer is overdue by far, the
// peer is asked what it has.
#ifndef UROCE_TRANSPORT_TAIL_PROBE_H
#define UROCE_TRANSPORT_TAIL_PROBE_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"

namespace uroce::transport {

// Added to two round trips and four times their variation: what a peer may need to answer and a
// poll loop to look.
inline constexpr Duration kProbeFloor = std::chrono::microseconds(10);

// The packet `req.sample_psn`, sent once at `req.sample_sent`, is acknowledged at env.now. Without
// tail probes nothing is measured.
void take_rtt_sample(RequesterState& req, const TransportEnv& env);

// When the peer is to be asked if nothing is heard from `now` on; kNever before the first sample.
// Counts only while a packet that asks for an answer is unanswered.
inline Time probe_time(const RequesterState& req, Time now) {
  if (req.srtt_ns == 0) return kNever;
  const Duration wait(2 * int64_t{req.srtt_ns} + 4 * int64_t{req.rtt_variation_ns});
  return now + (wait + kProbeFloor) * (1 << req.probes);
}

// Nothing was heard for that long: the oldest packet that is not acknowledged and the newest leave
// once more, both asking for an ACK. Costs no retry and does not touch the ACK timer.
void probe(QpContext& qp, TransportEnv& env);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_TAIL_PROBE_H
