// SPDX-License-Identifier: BSD-3-Clause
// What EAL is told in another program's process.
#include "ibverbs/eal_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/eal_check.h"

namespace uroce::ibverbs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

config::Settings with_port(const char* name, const char* arguments = "") {
  config::Settings settings;
  config::PortSettings port;
  port.name = name;
  port.driver_arguments = arguments;
  settings.ports.push_back(port);
  return settings;
}

Machine machine(std::initializer_list<int> cpus, uint64_t huge_mib) {
  Machine result;
  for (const int cpu : cpus) CPU_SET(cpu, &result.cpus);
  result.huge_bytes_free = huge_mib << 20;
  return result;
}

TEST(EalArguments, WithoutHugePages) {
  EXPECT_THAT(eal_arguments(with_port("net_null0", "size=64"), machine({0, 1}, 0)),
              ElementsAre("uroce", "--no-huge", "--no-shconf", "-m256", "--no-telemetry",
                          "--log-level=*:error", "--lcores=0@(0,1)", "--no-pci",
                          "--vdev=net_null0,size=64"));
}

TEST(EalArguments, HugePagesWhereEnoughOfThemAreFree) {
  const config::Settings settings = with_port("net_null0");
  EXPECT_THAT(eal_arguments(settings, machine({3}, 256)), Contains("--in-memory"));
  EXPECT_THAT(eal_arguments(settings, machine({3}, 256)), Not(Contains("--no-huge")));
  EXPECT_THAT(eal_arguments(settings, machine({3}, 254)), Contains("--no-huge"));
}

TEST(EalArguments, OfThePciBusTheNamedDeviceAlone) {
  const auto arguments = eal_arguments(with_port("0000:03:00.0"), machine({0}, 0));
  EXPECT_THAT(arguments, Contains("--allow=0000:03:00.0"));
  EXPECT_THAT(arguments, Not(Contains("--no-pci")));
}

TEST(EalArguments, EalWouldTakeThem) {
  const Machine here = Machine::look();
  EXPECT_GT(CPU_COUNT(&here.cpus), 0);
  EXPECT_TRUE(worker::check_arguments(eal_arguments(with_port("net_null0"), here)).ok());
}

}  // namespace
}  // namespace uroce::ibverbs
