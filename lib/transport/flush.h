// SPDX-License-Identifier: BSD-3-Clause
// FLUSH at the responder: what was written becomes visible to all, or survives a loss of power.
#ifndef UROCE_TRANSPORT_FLUSH_H
#define UROCE_TRANSPORT_FLUSH_H

#include "transport/judgement.h"
#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/parse.h"

namespace uroce::transport {

// Judges a FLUSH without side effects: placement type and selectivity, the rights of the queue
// pair, room for the answer, lengths, the key (IBA A19).
Plan judge_flush(const QpContext& qp, const TransportEnv& env, const wire::ParsedFrame& frame);

// Executes a FLUSH that was judged kTake.
//
// Global visibility is there already: a request is executed by this CPU, whose caches are coherent.
// Persistence writes the cache lines of the range back to memory; whether that memory keeps what it
// has when the power goes is the memory's property, not ours. This happens at once, so that nothing
// behind it can overtake it, and the engine does nothing else meanwhile: some 10 ns for each line
// that is dirty. So the right to flush for persistence is one to grant with care on large regions.
void execute_flush(const QpContext& qp, const TransportEnv& env, const wire::ParsedFrame& frame);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_FLUSH_H
