// SPDX-License-Identifier: BSD-3-Clause
// Opens one ring pair with as many held frames as asked: memory_test.py tries what its refusal
// says.
#include <rte_eal.h>

#include <cstdio>
#include <cstdlib>

#include "nic/port.h"
#include "nic/ring_pairs.h"

// uroce-memory-probe EAL-ARGUMENTS -- FRAMES-HELD
int main(int argc, char** argv) {
  const int used = rte_eal_init(argc, argv);
  if (used < 0 || used + 1 >= argc) return 2;
  uroce::nic::PortConfig config;
  config.frames_held_max = static_cast<uint32_t>(std::atoi(argv[used + 1]));
  auto rings = uroce::nic::RingPairs::make(1);
  if (!rings.ok()) {
    std::fprintf(stderr, "%s\n", rings.status().ToString().c_str());
    return 2;
  }
  std::unique_ptr<uroce::nic::Port> ports[2];
  for (size_t i = 0; i < 2; ++i) {
    config.name = rings->port_names()[i];
    auto port = uroce::nic::Port::open(config);
    if (!port.ok()) {
      std::fprintf(stderr, "%s\n", std::string(port.status().message()).c_str());
      return 1;
    }
    ports[i] = *std::move(port);
  }
  std::puts("opened");
  return 0;
}
