// SPDX-License-Identifier: BSD-3-Clause
// For tests of the library's process: each runs in a child, whose exit code tells how it went.
#ifndef UROCE_IBVERBS_PROCESS_FIXTURE_H
#define UROCE_IBVERBS_PROCESS_FIXTURE_H

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "ibverbs/process.h"

namespace uroce::ibverbs {

// Says what does not hold, and ends.
inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  _exit(99);
}

inline void configure(const char* options) {
  setenv("UROCE_OPTIONS", options, 1);
  unsetenv("UROCE_CONFIG");
}

inline device::Device* started() {
  device::Device* device = nullptr;
  must(Process::instance().start(0, device) == 0, "the device starts");
  return device;
}

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_PROCESS_FIXTURE_H
