// SPDX-License-Identifier: BSD-3-Clause
// Received frames to the queue pairs, groups and control protocols that they are for.
#ifndef UROCE_ENGINE_DISPATCH_H
#define UROCE_ENGINE_DISPATCH_H

#include <span>

#include "engine/engine_state.h"

namespace uroce::engine {

// Handles a burst at env.now. Frames for other engines go to the hand-off ring. The caller
// publishes completions.
void dispatch_frames(EngineState& engine, std::span<const RxFrame> frames);

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_DISPATCH_H
