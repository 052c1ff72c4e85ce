// SPDX-License-Identifier: BSD-3-Clause
// ACK timeout and RNR waits: the tables, the counters and what happens when time is up.
#ifndef UROCE_TRANSPORT_RETRY_H
#define UROCE_TRANSPORT_RETRY_H

#include <cstdint>

#include "transport/qp_context.h"
#include "transport/transport_env.h"

namespace uroce::transport {

// 4.096 us * 2^code, code 1 … 31; code 0 is Duration::max(): no timeout (IBA 9.7.6.1.3).
Duration ack_timeout(uint8_t code);
// The pause an RNR NAK with this timer code (0 … 31) asks for.
Duration rnr_delay(uint8_t code);

// When handle_deadline wants to be called next; kNever: nothing is armed.
Time next_deadline(const QpContext& qp);

// Time is up: an RNR wait ends, or the peer is probed, or unacknowledged requests are sent again,
// or retries are used up and the queue pair fails.
void handle_deadline(QpContext& qp, TransportEnv& env);

// Everything from the oldest PSN that is not acknowledged is sent again, at the cost of a retry if
// `spend`; with none left the queue pair fails.
void send_again(QpContext& qp, TransportEnv& env, bool spend);

// Takes one of the retries; with none left the queue pair fails: false.
bool spend_retry(QpContext& qp, TransportEnv& env);

// Starts the ACK timer, or starts it anew.
void arm_ack_timer(QpContext& qp, Time now);

// Both stand still until the next packet that asks for an answer, and no round trip is measured:
// what is being timed may be sent again.
inline void restart_timers(RequesterState& req) {
  req.ack_deadline = kNever;
  req.probe_deadline = kNever;
  req.sample_sent = kNever;
}

// After a loop that the host kept from running for `gap`: a running ACK timer is moved by it, until
// the gaps since it was armed add up to a whole timeout.
void shift_ack_deadline(QpContext& qp, Duration gap);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_RETRY_H
