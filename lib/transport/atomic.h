// SPDX-License-Identifier: BSD-3-Clause
// CMP_SWAP, FETCH_ADD and ATOMIC WRITE at the responder: judged, then executed.
#ifndef UROCE_TRANSPORT_ATOMIC_H
#define UROCE_TRANSPORT_ATOMIC_H

#include <cstdint>

#include "transport/judgement.h"
#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/parse.h"

namespace uroce::transport {

// Judges such a request without side effects, in the order of IBA 9.7.4.1: what the queue pair
// permits, room for the answer, lengths, the key, alignment. With kTake, `to` is the word.
Plan judge_atomic(const QpContext& qp, const TransportEnv& env, const wire::ParsedFrame& frame);

// Executes a request that was judged kTake. The word changes in one step, as the CPU's own atomic
// instructions and those of other engines see it. Returns what it held before (ATOMIC WRITE: 0).
uint64_t execute_atomic(const wire::ParsedFrame& frame, uint8_t* word);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_ATOMIC_H
