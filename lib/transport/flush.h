// SPDX-License-Identifier: BSD-3-Clause
// FLUSH at the responder: what was written becomes visible to all, or survives a loss of power.
#ifndef UROCE_TRANSPORT_FLUSH_H
#define UROCE_TRANSPORT_FLUSH_H

#include "memory/key_table.h"
#include "transport/judgement.h"
#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/parse.h"

namespace uroce::transport {

// Judges a FLUSH without side effects: placement type and selectivity, the rights of the queue
// pair, room for the answer, lengths, the key (IBA A19).
Plan judge_flush(const QpContext& qp, const TransportEnv& env, const wire::ParsedFrame& frame);

// A FLUSH that was judged kTake, as qp.resp.flush, with nothing written back yet.
FlushInProgress begin_flush(const wire::ParsedFrame& frame);

// Carries out the next part of qp.resp.flush. `done`: that was the last. Not kGood: the key no
// longer opens what the FLUSH names.
//
// Global visibility is there already: a request is executed by this CPU, whose caches are coherent.
// Persistence writes the cache lines of the range back to memory; whether that memory keeps what it
// has when the power goes is the memory's property, not ours. It costs some 10 ns for each line
// that is dirty, so a part is kFlushPartBytes, and the engine does other things between two of
// them. Requests behind the FLUSH wait until it is done: what they change must not be durable
// before.
inline constexpr uint64_t kFlushPartBytes = 64 * 1024;
memory::KeyVerdict flush_part(QpContext& qp, const TransportEnv& env, bool& done);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_FLUSH_H
