// SPDX-License-Identifier: BSD-3-Clause
// What EAL would refuse with a page of usage, or not at all, is refused in one sentence.
#include "worker/eal_check.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace uroce::worker {
namespace {

constexpr int kMayNotHide = 77;

std::string error_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"prog", "--no-huge"});
  const absl::Status status = check_arguments(arguments);
  return status.ok() ? "ok" : std::string(status.message());
}

TEST(EalCheck, TakesWhatEalTakes) {
  EXPECT_EQ(error_of({"--no-pci", "--no-shconf", "--no-telemetry", "-m", "256", "-l", "0"}), "ok");
  EXPECT_EQ(error_of({"-l0", "--proc-type=primary", "--huge-unlink", "--log-level", "8"}), "ok");
  EXPECT_EQ(error_of({"--lcores", "0@0,77@(0)", "--vdev=net_ring0", "-a", "0:0.0"}), "ok");
}

TEST(EalCheck, RefusesOtherProcessesThanPrimary) {
  const std::string rest =
      ": uroce runs in primary processes only: leave it out, and give --file-prefix NAME beside "
      "another DPDK program";
  EXPECT_EQ(error_of({"--proc-type=secondary"}), "--proc-type=secondary" + rest);
  EXPECT_EQ(error_of({"--proc-type", "auto"}), "--proc-type=auto" + rest);
  EXPECT_EQ(error_of({"--proc=auto"}), "--proc-type=auto" + rest) << "shortened";
}

TEST(EalCheck, NamesWhatIsNoOption) {
  EXPECT_EQ(error_of({"--no-pci", "--bogus"}).substr(0, 26), "EAL has no option --bogus:");
  EXPECT_EQ(error_of({"-x"}).substr(0, 21), "EAL has no option -x:");
  EXPECT_EQ(error_of({"--rings", "1"}).substr(0, 26), "EAL has no option --rings:");
  EXPECT_EQ(error_of({"--vdev"}), "--vdev of EAL needs a value");
  EXPECT_EQ(error_of({"-l"}), "-l of EAL needs a value");
}

TEST(EalCheck, NamesACpuThatIsNotThere) {
  EXPECT_EQ(error_of({"-l", "0,9999"}).substr(0, 39), "-l 0,9999: there is no CPU 9999 here, t");
  EXPECT_EQ(error_of({"-l", "0-9999"}).substr(0, 39), "-l 0-9999: there is no CPU 9999 here, t");
  EXPECT_EQ(error_of({"--lcores=(1,2)@(0,9999)"}).substr(0, 52),
            "--lcores (1,2)@(0,9999): there is no CPU 9999 here, ");
}

// In a process of its own, which alone sees it.
[[noreturn]] void check_without_sys(int answer) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", "/sys", "tmpfs", 0, nullptr) != 0) {
    _exit(kMayNotHide);
  }
  dprintf(answer, "%s", error_of({"-l", "0"}).c_str());
  _exit(0);
}

TEST(EalCheck, NamesWhatAChrootLacks) {
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  const pid_t child = fork();
  if (child == 0) check_without_sys(said[1]);
  close(said[1]);
  int status = 0;
  waitpid(child, &status, 0);
  std::array<char, 512> text{};
  EXPECT_GE(read(said[0], text.data(), text.size() - 1), 0);
  close(said[0]);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kMayNotHide) {
    GTEST_SKIP() << "needs CAP_SYS_ADMIN, to hide /sys";
  }
  EXPECT_STREQ(text.data(),
               "EAL finds the machine's CPUs in /sys/devices/system/cpu, which is not here: mount "
               "-t sysfs sysfs /sys");
}

TEST(EalCheck, NamesWhatAVdevLacks) {
  EXPECT_EQ(error_of({"--vdev=net_af_packet0"}),
            "--vdev=net_af_packet0: add iface=NAME, the network interface to use");
  EXPECT_EQ(error_of({"--vdev", "eth_af_packet0,framesz=2048,iface=nope"}),
            "--vdev=eth_af_packet0,framesz=2048,iface=nope: there is no network interface 'nope' "
            "here (ip link lists them)");
  EXPECT_EQ(error_of({"--vdev=net_pcap0,rx_pcap=/nonexistent"}),
            "--vdev=net_pcap0,rx_pcap=/nonexistent: cannot read '/nonexistent' (No such file or "
            "directory): give rx_pcap a capture file");
  EXPECT_EQ(error_of({"--vdev=net_pcap0,rx_pcap=/dev/null"}), "ok");
}

TEST(EalCheck, RepeatsInOneShortLine) {
  const std::string endless(3'000'000, 'a');
  for (const std::string& argument :
       {"--" + endless, "--proc-type=" + endless, "-l9999" + std::string(100'000, '9'),
        "--vdev=net_af_packet0,x=" + endless, "--vdev=net_af_packet0,iface=" + endless,
        "--vdev=net_pcap0,rx_pcap=" + endless}) {
    EXPECT_LT(error_of({argument}).size(), 600u) << argument.substr(0, 40);
  }
  EXPECT_EQ(error_of({"--vdev=net_af_packet0,\x1b\n"}),
            "--vdev=net_af_packet0,\\x1b\\n: add iface=NAME, the network interface to use");
}

TEST(EalCheck, FindsAnOptionHoweverItIsWritten) {
  EXPECT_TRUE(has_option({"prog", "--log-level", "8"}, "log-level"));
  EXPECT_TRUE(has_option({"prog", "--log-l=8"}, "log-level"));
  EXPECT_FALSE(has_option({"prog", "--no-pci"}, "log-level"));
}

}  // namespace
}  // namespace uroce::worker
