// SPDX-License-Identifier: BSD-3-Clause
// What EAL and uroce are told for two devices on memory rings.
#include "common/ring_pair.h"

#include <sched.h>

#include <cstdio>
#include <exception>
#include <iterator>
#include <string>

namespace uroce::app {

std::vector<int> allowed_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  if (cpus.empty()) cpus.push_back(0);  // a kernel with more CPUs than a set holds
  return cpus;
}

namespace {

// Lcore 0, and 1 beside it, on CPUs that are ours to use: on one and the same if there is no other.
std::string lcores(bool worker) {
  const std::vector<int> cpus = allowed_cpus();
  std::string map = "0@" + std::to_string(cpus.front());
  if (worker) map += ",1@" + std::to_string(cpus[cpus.size() > 1 ? 1 : 0]);
  return map;
}

}  // namespace

uroce_context* start_ring_pair(const RingPairOptions& options) {
  const std::string map = lcores(options.worker);
  const char* const arguments[] = {options.program,    "--no-huge",
                                   "--no-pci",         "--no-shconf",
                                   "--no-telemetry",   "-m",
                                   options.memory_mib, "--lcores",
                                   map.c_str(),        "--",
                                   "--mode",           options.worker ? "worker" : "inline",
                                   "--rings",          options.ring_pairs,
                                   "--port",           "net_ring_u0,address=10.0.0.1/24",
                                   "--port",           "net_ring_u1,address=10.0.0.2/24"};
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
