// SPDX-License-Identifier: BSD-3-Clause
// What control threads ask of the engine, carried out between bursts.
#ifndef UROCE_ENGINE_COMMANDS_H
#define UROCE_ENGINE_COMMANDS_H

#include "engine/engine_state.h"

namespace uroce::engine {

// Carries a command out at env.now and finishes it; a ResolveCommand may be left on engine.waiting,
// a DestroyQpCommand on engine.parting or engine.held_back. One that was withdrawn is left alone.
// The caller publishes completions before anybody can act on `done`: see finish().
void run_command(EngineState& engine, Command& command);

// Carries out the commands of engine.parting whose queue pairs owe nothing any more, or whose time
// is up.
void finish_parting(EngineState& engine);
// When that is for the next of them; kNever: none.
Time parting_deadline(const EngineState& engine);

// Finishes the commands of engine.held_back whose grace period is over.
void finish_held_back(EngineState& engine);

// Finishes the ResolveCommands whose answer has come or whose time is up.
void finish_resolved(EngineState& engine);

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_COMMANDS_H
