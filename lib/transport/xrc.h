// SPDX-License-Identifier: BSD-3-Clause
// What a target queue pair of an extended reliable connection has in place of a receive queue.
//
// Every request names in its XRCETH a shared receive queue of the target's domain. The first packet
// of a message decides: the message takes its WQE there, completes in the CQ of that queue, and all
// its keys are looked up in the protection domain of that queue (which is why a WRITE or READ
// names one too). Until the next message the queue pair is as one that was created with that shared
// receive queue, and everything else is RC.
#ifndef UROCE_TRANSPORT_XRC_H
#define UROCE_TRANSPORT_XRC_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/parse.h"

namespace uroce::transport {

// A request packet, in sequence, of an XRC target. Of the first packet of a message: takes over the
// queue that it names. False: there is no such queue in this domain, or (a later packet) it was
// destroyed under the message.
bool enter_named_queue(QpContext& qp, const TransportEnv& env, const wire::ParsedFrame& frame);

// The queue is about to be destroyed: if `qp` has it, then not any more, and the WQE that was taken
// from it vanishes without a completion. A message in progress fails with its next packet.
void leave_queue(QpContext& qp, const SharedReceiveQueue& srq);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_XRC_H
