// SPDX-License-Identifier: BSD-3-Clause
// Nothing in here may make EAL print its usage, which goes to stdout, or end the process.
#include "ibverbs/eal_arguments.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <fstream>

#include "start/made_ports.h"

namespace uroce::ibverbs {
namespace {

// Pools and rings of a queue take less than this; without huge pages what is not used costs
// nothing.
constexpr uint64_t kMibPerQueue = 192;
constexpr uint64_t kMibBase = 64;

std::string cpu_list(const cpu_set_t& cpus) {
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    if (!list.empty()) list += ',';
    list += std::to_string(cpu);
  }
  return list;
}

uint64_t memory_mib(const config::Settings& settings) {
  uint64_t queues = 2 * uint64_t{settings.rings};
  for (const config::PortSettings& port : settings.ports) queues += port.queue_count;
  return kMibBase + queues * kMibPerQueue;
}

}  // namespace

Machine Machine::look() {
  Machine machine;
  if (sched_getaffinity(0, sizeof machine.cpus, &machine.cpus) != 0) CPU_SET(0, &machine.cpus);
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  uint64_t pages = 0, kib = 0;
  while (meminfo >> word) {
    if (word == "HugePages_Free:") meminfo >> pages;
    if (word == "Hugepagesize:") meminfo >> kib;
  }
  machine.huge_bytes_free = pages * kib * 1024;
  return machine;
}

std::vector<std::string> eal_arguments(const config::Settings& settings, const Machine& machine) {
  const uint64_t mib = memory_mib(settings);
  std::vector<std::string> arguments{"uroce"};
  if (machine.huge_bytes_free >= mib << 20) {
    arguments.emplace_back("--in-memory");
  } else {
    // --in-memory and --no-huge exclude each other in DPDK 22.11.
    arguments.emplace_back("--no-huge");
    arguments.emplace_back("--no-shconf");
    arguments.push_back(absl::StrFormat("-m%d", mib));
  }
  arguments.emplace_back("--no-telemetry");
  arguments.emplace_back("--log-level=*:error");
  arguments.push_back(absl::StrFormat("--lcores=0@(%s)", cpu_list(machine.cpus)));
  if (std::ranges::none_of(settings.ports, start::is_pci)) arguments.emplace_back("--no-pci");
  for (const config::PortSettings& port : settings.ports) {
    std::string argument = start::eal_argument(port);
    if (!argument.empty()) arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace uroce::ibverbs
