// SPDX-License-Identifier: BSD-3-Clause
// What EAL and uroce are told for two devices on memory rings.
#include "common/ring_pair.h"

#include <cstdio>
#include <exception>
#include <iterator>

namespace uroce::app {

uroce_context* start_ring_pair(const RingPairOptions& options) {
  const char* const arguments[] = {options.program,
                                   "--no-huge",
                                   "--no-pci",
                                   "--no-shconf",
                                   "--no-telemetry",
                                   "-m",
                                   options.memory_mib,
                                   "-l",
                                   options.worker ? "0,1" : "0",
                                   "--",
                                   "--mode",
                                   options.worker ? "worker" : "inline",
                                   "--rings",
                                   options.ring_pairs,
                                   "--port",
                                   "net_ring_u0,address=10.0.0.1/24",
                                   "--port",
                                   "net_ring_u1,address=10.0.0.2/24"};
  uroce_context* context = nullptr;
  if (uroce_start(static_cast<int>(std::size(arguments)), arguments, &context) != 0) {
    std::fprintf(stderr, "%s: %s\n", options.program, uroce_error());
    return nullptr;
  }
  return context;
}

bool stop_ring_pair(const RingPairOptions& options, uroce_context* context) {
  if (uroce_stop(context) == 0) return true;
  std::fprintf(stderr, "%s: %s\n", options.program, uroce_error());
  return false;
}

int run_on_ring_pair(const RingPairOptions& options,
                     const std::function<int(uroce_context* context)>& body) {
  uroce_context* context = start_ring_pair(options);
  if (context == nullptr) return 1;
  int status = 1;
  try {
    status = body(context);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "\n%s: %s\n", options.program, error.what());
  }
  return stop_ring_pair(options, context) ? status : 1;
}

}  // namespace uroce::app
