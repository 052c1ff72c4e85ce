// SPDX-License-Identifier: BSD-3-Clause
// What the requester sends again after a NAK 0x60: the named packet alone, or everything from it.
#ifndef UROCE_TRANSPORT_RECOVERY_H
#define UROCE_TRANSPORT_RECOVERY_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"

namespace uroce::transport {

// While a repair is under way the requester goes on with new packets, but no further than this
// ahead of the oldest that is not acknowledged: the peer has to keep them.
inline constexpr uint32_t kRepairWindow = 512;

// A NAK 0x60 names `named`; what lies before it is acknowledged. Costs a retry if `spend`; with
// none left the queue pair fails.
void recover_from_nak(QpContext& qp, TransportEnv& env, Psn named, bool spend);

// unacked_psn has moved while something of the state below was set, over so many packets that were
// to be sent again and have not been: `passed`.
void judge_progress(QpContext& qp, const TransportEnv& env, uint32_t passed);

// Whether judge_progress has anything to say.
inline bool recovery_under_way(const RequesterState& req) {
  return req.recovery != Recovery::kNone || req.probes != 0;
}

// Ends whatever is under way: the cursor alone says what comes next.
void end_recovery(RequesterState& req);

// An RNR NAK has refused `req.rnr_psn`, where the cursor will stop until it is taken.
void hold_at_refused(RequesterState& req);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_RECOVERY_H
