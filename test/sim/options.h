// SPDX-License-Identifier: BSD-3-Clause
// The arguments of uroce-sim.
#ifndef UROCE_TEST_SIM_OPTIONS_H
#define UROCE_TEST_SIM_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uroce::sim {

struct Options {
  uint64_t seed = 1;
  uint64_t swarm = 0;  // 0: one run
  uint64_t jobs = 0;   // 0: one for each CPU
  uint64_t shrink = 300;
  std::optional<std::vector<size_t>> steps;  // none: all of the plan
  std::string log;
  std::string pcap;
  bool plan = false;
};

// Nothing: `options` are what to do. Else the status to exit with: 0 after --help, which is printed
// on stdout, or 2, with one line on stderr that names the argument and its range.
std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_OPTIONS_H
