// SPDX-License-Identifier: BSD-3-Clause
// What of a completion has another form here than in the ring.
#ifndef UROCE_IBVERBS_COMPLETION_FORM_H
#define UROCE_IBVERBS_COMPLETION_FORM_H

#include <infiniband/verbs.h>

#include <cstdint>

#include "transport/completion_queue.h"

namespace uroce::ibverbs {

static_assert(IBV_WC_RNR_RETRY_EXC_ERR == static_cast<int>(transport::WcStatus::kRnrRetryExcErr) &&
              IBV_WC_ATOMIC_WRITE == static_cast<int>(transport::WcOpcode::kAtomicWrite) &&
              IBV_WC_RECV_RDMA_WITH_IMM ==
                  static_cast<int>(transport::WcOpcode::kRecvRdmaWithImm) &&
              IBV_WC_GRH == int{transport::kWcGrh} &&
              IBV_WC_WITH_IMM == int{transport::kWcWithImm});

inline unsigned wc_flags_of(const transport::Cqe& cqe) {
  unsigned flags = cqe.wc_flags & (IBV_WC_GRH | IBV_WC_WITH_IMM);
  if ((cqe.wc_flags & transport::kWcWithInvalidate) != 0) flags |= IBV_WC_WITH_INV;
  return flags;
}

// Programs ask the service level of a datagram which network header lies in the GRH's place, as
// adapters of RoCE tell them: 2 in its low bits is IPv4.
inline uint8_t service_level_of(const transport::Cqe& cqe) {
  constexpr uint8_t kIpv4Header = 2;
  constexpr uint8_t kServiceLevelOfIpv4 = 0xA;
  const bool known = (cqe.wc_flags & transport::kWcWithNetworkHdrType) != 0;
  return known && cqe.network_header == kIpv4Header ? kServiceLevelOfIpv4 : cqe.sl;
}

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_COMPLETION_FORM_H
