// SPDX-License-Identifier: BSD-3-Clause
// EAL's arguments for a process that is not ours: nothing of it is touched or printed to.
#ifndef UROCE_IBVERBS_EAL_ARGUMENTS_H
#define UROCE_IBVERBS_EAL_ARGUMENTS_H

#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"

namespace uroce::ibverbs {

// What the arguments depend on beside the settings.
struct Machine {
  cpu_set_t cpus{};              // on which the process may run
  uint64_t huge_bytes_free = 0;  // in huge pages of the default size

  static Machine look();
};

// The program's name first. Memory is from huge pages if enough of them are free. One lcore floats
// over all CPUs. No value comes from a user, ports apart, whose keys are checked.
std::vector<std::string> eal_arguments(const config::Settings& settings, const Machine& machine);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_EAL_ARGUMENTS_H
