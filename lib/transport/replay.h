// SPDX-License-Identifier: BSD-3-Clause
// Duplicates: request packets behind the expected PSN, and the memory of READs, atomics and the
// like that answers them.
#ifndef UROCE_TRANSPORT_REPLAY_H
#define UROCE_TRANSPORT_REPLAY_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/parse.h"

namespace uroce::transport {

// Keeps a READ that is being taken in the oldest slot. dest_rd_atomic_max is not 0.
void remember_read(QpContext& qp, Psn first, uint32_t packet_count, const wire::Reth& reth);

// The same for an atomic or ATOMIC WRITE that was executed; `original`: what an atomic found.
void remember_operation(QpContext& qp, const wire::ParsedFrame& frame, uint64_t original);
// The same for qp.resp.flush, which has the expected PSN.
void remember_flush(QpContext& qp);

// The expected PSN has entered another quarter of the PSN space: forgets what is so old that their
// PSNs would soon look new again.
void forget_old_reads(QpContext& qp);

// Takes a request packet behind the expected PSN: acknowledges it again, sends a READ's data or an
// atomic's old value again, or drops it. Nothing is executed twice.
void receive_duplicate(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_REPLAY_H
