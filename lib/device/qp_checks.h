// SPDX-License-Identifier: BSD-3-Clause
// Whether a change of a queue pair is legal, before any engine hears of it. Pure.
#ifndef UROCE_DEVICE_QP_CHECKS_H
#define UROCE_DEVICE_QP_CHECKS_H

#include <cstdint>

#include "base/types.h"
#include "transport/qp_attributes.h"

namespace uroce::device {

// Bits of the mask that exist at all: 0 … 20.
inline constexpr uint32_t kAttrMaskAll = (1u << 21) - 1;

// The values of the attributes that the mask names (not the address vector, not the state).
// 0 or -EINVAL.
int check_attribute_values(const transport::QpAttributes& attributes, uint32_t mask,
                           PathMtu port_mtu);

// The transition and the mask against the state table, with the queue pair in `state`. Asked also
// when the mask has no state: then the state stays. 0 or -EINVAL.
int check_transition(const transport::QpAttributes& attributes, uint32_t mask,
                     transport::QpType type, transport::QpState state);

}  // namespace uroce::device

#endif  // UROCE_DEVICE_QP_CHECKS_H
