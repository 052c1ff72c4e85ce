// SPDX-License-Identifier: BSD-3-Clause
// For tests: two network namespaces of their own, joined by a veth pair: va in A, vb in B.
#ifndef UROCE_NIC_NETNS_TEST_H
#define UROCE_NIC_NETNS_TEST_H

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/types.h"
#include "nic/descriptor.h"

namespace uroce::nic {

// Skips without root. The namespaces have no name and go with their last descriptor.
class NetnsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: network namespaces";
    home_ = Descriptor(::open("/proc/self/ns/net", O_RDONLY));
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    if (!duplicate_detection_) without_duplicate_detection();
    a_ = Descriptor(::open("/proc/self/ns/net", O_RDONLY));
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    if (!duplicate_detection_) without_duplicate_detection();
    b_ = Descriptor(::open("/proc/self/ns/net", O_RDONLY));
    run("ip link add vb type veth peer name va netns /proc/" + std::to_string(getpid()) + "/fd/" +
        std::to_string(a_.get()));
    run("ip link set vb mtu 9000 up");
    enter_a();
    run("ip link set lo up");
    run("ip link set va mtu 9000 up");
  }
  void TearDown() override {
    if (home_.is_open()) {
      EXPECT_EQ(setns(home_.get(), CLONE_NEWNET), 0);
    }
  }
  void enter_a() { ASSERT_EQ(setns(a_.get(), CLONE_NEWNET), 0); }
  void enter_b() { ASSERT_EQ(setns(b_.get(), CLONE_NEWNET), 0); }
  // Runs a command in the namespace that is entered.
  static void run(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  static std::string output(const std::string& command) {
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) {
      text.push_back(static_cast<char>(c));
    }
    pclose(pipe);
    return text;
  }
  // IPv6 addresses are usable at once, not after 1 to 2 s.
  static void without_duplicate_detection() {
    run("sysctl -qw net.ipv6.conf.default.accept_dad=0");
  }
  // Makes va.100; false where the kernel is built without VLAN interfaces.
  static bool has_vlan() {
    return std::system("ip link add link va name va.100 type vlan id 100 2>/dev/null") == 0;
  }
  static int index_of(const char* name) { return static_cast<int>(if_nametoindex(name)); }
  void addresses_on_both() {
    enter_b();
    run("ip addr add 10.9.0.2/24 dev vb");
    run("ip addr add fd00:9::2/64 dev vb nodad");
    enter_a();
    run("ip addr add 10.9.0.1/24 dev va");
    run("ip addr add fd00:9::1/64 dev va nodad");
  }

  bool duplicate_detection_ = false;
  Descriptor home_;
  Descriptor a_;
  Descriptor b_;
};

inline Gid ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
  return Gid::from_ipv4(uint32_t{a} << 24 | uint32_t{b} << 16 | uint32_t{c} << 8 | d);
}
// fd00:9::<last>
inline Gid ipv6(uint8_t last) {
  return Gid{{0xfd, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}};
}

}  // namespace uroce::nic

#endif  // UROCE_NIC_NETNS_TEST_H
