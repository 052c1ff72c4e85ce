// SPDX-License-Identifier: BSD-3-Clause
// Which queue pair may send now: the order of everything that leaves the engine.
#ifndef UROCE_ENGINE_TX_SCHEDULE_H
#define UROCE_ENGINE_TX_SCHEDULE_H

#include <cstddef>
#include <span>

#include "engine/engine_state.h"

namespace uroce::engine {

// Takes note of the queue pairs whose bells rang, then fills slots at env.now. Returns how many are
// filled. The caller publishes completions.
size_t schedule_frames(EngineState& engine, std::span<TxSlot> slots);

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_TX_SCHEDULE_H
