// SPDX-License-Identifier: BSD-3-Clause
// How group frames get through a port, in words.
#ifndef UROCE_OBSERVE_GROUP_FILTER_H
#define UROCE_OBSERVE_GROUP_FILTER_H

#include "device/port_ops.h"

namespace uroce::observe {

// A static string, never nullptr.
const char* group_filter_text(device::FilterKind kind);

}  // namespace uroce::observe

#endif  // UROCE_OBSERVE_GROUP_FILTER_H
