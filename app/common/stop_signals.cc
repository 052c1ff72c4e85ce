// SPDX-License-Identifier: BSD-3-Clause
// The handler does the one thing that it may: it sets a flag.
#include "common/stop_signals.h"

#include <csignal>

namespace uroce::app {
namespace {

volatile std::sig_atomic_t asked = 0;

void handle(int) { asked = 1; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void ask_to_stop() { asked = 1; }

bool stop_asked() { return asked != 0; }

}  // namespace uroce::app
