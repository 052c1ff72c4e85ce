// SPDX-License-Identifier: BSD-3-Clause
// One multicast packet to every queue pair of this engine that is a member of its group.
#ifndef UROCE_ENGINE_FAN_OUT_H
#define UROCE_ENGINE_FAN_OUT_H

#include "engine/engine_state.h"
#include "wire/parse.h"

namespace uroce::engine {

// Delivers a UD packet whose ICRC is good, each member its own copy in attach order. A member that
// cannot take it does not keep the others from theirs.
void fan_out(EngineState& engine, const group::Group& group, const RxFrame& frame,
             const wire::ParsedFrame& parsed);

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_FAN_OUT_H
