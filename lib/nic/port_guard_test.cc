// SPDX-License-Identifier: BSD-3-Clause
// The guard: no port-unreachable for RoCE packets, no second stack on one address.
#include "nic/port_guard.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "nic/netns_test.h"

namespace uroce::nic {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PortGuardTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    addresses_on_both();
  }
  // What B hears after a datagram to A's RoCE port: 0 or ECONNREFUSED (port unreachable).
  int answer_to_b(const char* address) {
    enter_b();
    const bool ipv4_wanted = std::strchr(address, ':') == nullptr;
    const Descriptor socket(::socket(ipv4_wanted ? AF_INET : AF_INET6, SOCK_DGRAM, 0));
    sockaddr_in to4{};
    to4.sin_family = AF_INET;
    to4.sin_port = htons(4791);
    sockaddr_in6 to6{};
    to6.sin6_family = AF_INET6;
    to6.sin6_port = htons(4791);
    if (ipv4_wanted) {
      inet_pton(AF_INET, address, &to4.sin_addr);
      EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&to4), sizeof to4), 0);
    } else {
      inet_pton(AF_INET6, address, &to6.sin6_addr);
      EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&to6), sizeof to6), 0);
    }
    EXPECT_EQ(::send(socket.get(), "x", 1, 0), 1);
    int error = 0;
    for (int i = 0; i < 20 && error == 0; ++i) {  // ARP first, then the answer
      usleep(10'000);
      socklen_t length = sizeof error;
      getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    }
    enter_a();
    return error;
  }
};

TEST_F(PortGuardTest, StopsPortUnreachableOnItsAddresses) {
  EXPECT_EQ(answer_to_b("10.9.0.1"), ECONNREFUSED);
  EXPECT_EQ(answer_to_b("fd00:9::1"), ECONNREFUSED);
  PortGuard guard(index_of("va"));
  const Gid addresses[] = {ipv4(10, 9, 0, 1), ipv6(1)};
  const absl::Status held = guard.hold(addresses);
  ASSERT_TRUE(held.ok()) << held;
  EXPECT_EQ(answer_to_b("10.9.0.1"), 0);
  EXPECT_EQ(answer_to_b("fd00:9::1"), 0);
  EXPECT_TRUE(guard.hold({}).ok());
  EXPECT_EQ(answer_to_b("10.9.0.1"), ECONNREFUSED);
}

TEST_F(PortGuardTest, SecondStackOnAnAddressIsRefusedByName) {
  PortGuard first(index_of("va"));
  PortGuard second(index_of("va"));
  const Gid address[] = {ipv4(10, 9, 0, 1)};
  const Gid both[] = {ipv4(10, 9, 0, 1), ipv6(1)};
  ASSERT_TRUE(first.hold(address).ok());
  EXPECT_TRUE(first.hold(address).ok());  // itself is no second stack
  const absl::Status refused = second.hold(both);
  EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("10.9.0.1"), HasSubstr("4791"), Not(HasSubstr("\n"))));
  EXPECT_TRUE(first.hold({}).ok());
  EXPECT_TRUE(second.hold(both).ok());
}

TEST_F(PortGuardTest, AddressThatIsNotHereSaysSo) {
  PortGuard guard(index_of("va"));
  const Gid address[] = {ipv4(10, 9, 0, 99)};
  const absl::Status held = guard.hold(address);
  EXPECT_EQ(held.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(held.message()), HasSubstr("10.9.0.99"));
}

TEST_F(PortGuardTest, LinkLocalAddressesAreGuardedToo) {
  PortGuard guard(index_of("va"));
  const std::string text = output("ip -6 -br addr show dev va scope link");
  Gid address;
  const size_t begin = text.find("fe80");
  ASSERT_NE(begin, std::string::npos) << text;
  const std::string number = text.substr(begin, text.find('/', begin) - begin);
  ASSERT_EQ(inet_pton(AF_INET6, number.c_str(), address.bytes.data()), 1);
  absl::Status held;
  for (int i = 0; i < 200; ++i) {  // until its duplicate detection is over
    held = guard.hold(std::span(&address, 1));
    if (held.ok()) break;
    usleep(20'000);
  }
  EXPECT_TRUE(held.ok()) << held;
}

}  // namespace
}  // namespace uroce::nic
