// SPDX-License-Identifier: BSD-3-Clause
// Driving the two devices, and saying what is going on meanwhile.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "common/stop_signals.h"
#include "demo/demo.h"

namespace uroce::demo {

void Stage::drive(const std::function<bool()>& done, const char* what, double seconds) const {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (uint32_t turns = 1;; ++turns) {
    uroce_poll(context);
    if (app::stop_asked()) throw std::runtime_error("interrupted");
    if (done()) return;
    if (turns % 4096 == 0 && std::chrono::steady_clock::now() > limit) {
      throw std::runtime_error(std::string(what) + " took longer than it ever should");
    }
  }
}

void Stage::progress(const std::string& sentence) const {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, terminal ? "\r\033[K%s ..." : "%s ...\n", sentence.c_str());
  if (sentence.empty() && terminal) std::fprintf(stderr, "\r\033[K");
}

}  // namespace uroce::demo
