// SPDX-License-Identifier: BSD-3-Clause
// Where commands come from: a file, a prompt on a terminal, or lines of a pipe.
#ifndef UROCE_APP_TESTROCE_CONSOLE_H
#define UROCE_APP_TESTROCE_CONSOLE_H

#include <functional>
#include <string>

#include "testroce/session.h"

namespace uroce::testroce {

// Runs the commands of a file; empty lines and lines with # in front are skipped. Throws
// std::runtime_error "FILE:LINE: sentence" at the first command that fails.
void run_file(Session& session, const std::string& path);

// Alternates between commands from standard input and turns of the session until `quit`, the end
// of the input or a signal. `every_turn` is called now and then. Commands that fail say so and the
// session goes on; returns how many failed (none are counted on a terminal).
unsigned run_prompt(Session& session, const std::function<void()>& every_turn);

}  // namespace uroce::testroce

#endif  // UROCE_APP_TESTROCE_CONSOLE_H
