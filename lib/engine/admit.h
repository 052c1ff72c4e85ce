// SPDX-License-Identifier: BSD-3-Clause
// Whether a queue pair takes a packet: P_Key, service, state and address, judged without side
// effects.
#ifndef UROCE_ENGINE_ADMIT_H
#define UROCE_ENGINE_ADMIT_H

#include <cstdint>

#include "transport/qp_context.h"
#include "wire/drop.h"
#include "wire/parse.h"

namespace uroce::engine {

// Partition keys match when their low 15 bits are equal and not 0 and at least one of the two is a
// full member's (IBA 10.9.3).
bool pkeys_match(uint16_t a, uint16_t b);

// Whether a queue pair in this state takes requests (or else responses).
bool takes(transport::QpState state, bool request);

// Drop::kNone when the packet, whose ICRC is good, may go to the transport of `qp`, which its
// destination QPN or group names. Q_Keys and everything about PSNs are the transport's to judge.
wire::Drop admit(const transport::QpContext& qp, const wire::ParsedFrame& frame);

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_ADMIT_H
