// SPDX-License-Identifier: BSD-3-Clause
// One EAL for every test of the program: no hugepages, no devices, no files left behind.
#include <gtest/gtest.h>
#include <rte_eal.h>

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> words = {
      argv[0], "--no-huge",     "--no-pci",         "-m",
      "256",   "--no-shconf",   "--no-telemetry",   "-l",
      "0",     "--log-level=4", "--vdev=net_null0", "--vdev=net_null1,no-rx=1"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) {
    std::fprintf(stderr, "EAL does not start\n");
    return 1;
  }
  const int result = RUN_ALL_TESTS();
  rte_eal_cleanup();
  return result;
}
