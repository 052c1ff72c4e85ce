// SPDX-License-Identifier: BSD-3-Clause
// Group joins by the kernel: more groups than one socket holds, seen in `ip maddr`.
#include "nic/kernel_groups.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "nic/netns_test.h"

namespace uroce::nic {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class KernelGroupsTest : public NetnsTest {
 protected:
  static std::string shown() { return output("ip maddr show dev va"); }
};

TEST_F(KernelGroupsTest, JoinOpensTheFilterAndLeaveClosesIt) {
  KernelGroups groups(index_of("va"));
  Gid mld;
  mld.bytes = {0xff, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34};
  EXPECT_EQ(groups.set(ipv4(239, 1, 2, 3), kEverySource), 0);
  EXPECT_EQ(groups.set(mld, kEverySource), 0);
  EXPECT_THAT(shown(), HasSubstr("inet  239.1.2.3"));
  EXPECT_THAT(shown(), HasSubstr("01:00:5e:01:02:03"));
  EXPECT_THAT(shown(), HasSubstr("inet6 ff15::1234"));
  EXPECT_EQ(groups.set(ipv4(239, 1, 2, 3), kNoSource), 0);
  EXPECT_EQ(groups.set(mld, kNoSource), 0);
  EXPECT_THAT(shown(), Not(HasSubstr("239.1.2.3")));
  EXPECT_THAT(shown(), Not(HasSubstr("ff15::1234")));
  EXPECT_EQ(groups.socket_count(), 0u);
}

TEST_F(KernelGroupsTest, TakesAsManySocketsAsTheKernelsLimitAsksFor) {
  KernelGroups groups(index_of("va"));
  for (uint8_t i = 1; i <= 45; ++i)
    ASSERT_EQ(groups.set(ipv4(239, 1, 2, i), kEverySource), 0) << int{i};
  EXPECT_EQ(groups.socket_count(), 3u);
  EXPECT_THAT(shown(), HasSubstr("239.1.2.45"));
  EXPECT_EQ(groups.set(ipv4(239, 1, 2, 5), kNoSource), 0);
  EXPECT_EQ(groups.set(ipv4(239, 1, 3, 1), kEverySource), 0);  // into the hole
  EXPECT_EQ(groups.set(ipv4(239, 1, 3, 2), kEverySource), 0);
  EXPECT_EQ(groups.socket_count(), 3u);
}

TEST_F(KernelGroupsTest, NamesWhatCannotBeDone) {
  KernelGroups groups(index_of("va"));
  EXPECT_EQ(groups.set(ipv4(10, 9, 0, 1), kEverySource), -EINVAL);
  EXPECT_EQ(groups.set(ipv4(239, 1, 2, 3), kEverySource), 0);
  EXPECT_EQ(groups.set(ipv4(239, 1, 2, 3), kEverySource), 0) << "no change";
  EXPECT_EQ(groups.set(ipv4(239, 1, 2, 4), kNoSource), 0) << "no change";
  EXPECT_EQ(groups.socket_count(), 1u);
  const Gid source = ipv4(10, 9, 0, 9);
  EXPECT_EQ(groups.set(ipv4(239, 1, 2, 3), {FilterMode::kExclude, {&source, 1}}), -EINVAL);
  KernelGroups nowhere(9999);
  EXPECT_EQ(nowhere.set(ipv4(239, 1, 2, 3), kEverySource), -ENODEV);
}

// What the kernel lets through of a group: each of its lines has a source.
class KernelSources : public KernelGroupsTest {
 protected:
  static size_t lines(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  }
  static size_t sources() { return lines(output("cat /proc/net/mcfilter"), "0xef010203"); }
  static size_t sources6() {
    return lines(output("cat /proc/net/mcfilter6"), "ff150000000000000000000000001234");
  }
  static std::vector<Gid> some(uint8_t from, uint8_t to) {
    std::vector<Gid> list;
    for (uint8_t i = from; i <= to; ++i) list.push_back(ipv4(10, 9, 1, i));
    return list;
  }
  int set(const std::vector<Gid>& wanted) {
    return groups_.set(ipv4(239, 1, 2, 3), {FilterMode::kInclude, wanted});
  }
  void SetUp() override {
    KernelGroupsTest::SetUp();
    if (!IsSkipped()) groups_ = KernelGroups(index_of("va"));
  }
  KernelGroups groups_{0};
};

TEST_F(KernelSources, MoreThanOneSocketHoldsAreOnSeveral) {
  EXPECT_EQ(set(some(1, 25)), 0);
  EXPECT_EQ(groups_.socket_count(), 3u);  // 10 each
  EXPECT_EQ(sources(), 25u);
  EXPECT_EQ(set(some(4, 27)), 0);
  EXPECT_EQ(sources(), 24u);
  EXPECT_EQ(groups_.set(ipv4(239, 1, 2, 3), kEverySource), 0);
  EXPECT_EQ(groups_.socket_count(), 1u);
  EXPECT_EQ(sources(), 0u);
  EXPECT_THAT(shown(), HasSubstr("inet  239.1.2.3"));
  EXPECT_EQ(set(some(7, 8)), 0);
  EXPECT_EQ(sources(), 2u);
  EXPECT_EQ(set({}), 0);
  EXPECT_EQ(groups_.socket_count(), 0u);
  EXPECT_THAT(shown(), Not(HasSubstr("239.1.2.3")));
}

TEST_F(KernelSources, OfIpv6Likewise) {
  Gid mld;
  mld.bytes = {0xff, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34};
  std::vector<Gid> wanted(100, Gid{{0xfd, 0, 0, 9}});
  for (uint8_t i = 0; i < 100; ++i) wanted[i].bytes[15] = i + 1;
  EXPECT_EQ(groups_.set(mld, {FilterMode::kInclude, wanted}), 0);
  EXPECT_EQ(groups_.socket_count(), 2u);  // 64 each
  EXPECT_EQ(sources6(), 100u);
  EXPECT_EQ(groups_.set(mld, kNoSource), 0);
  EXPECT_EQ(sources6(), 0u);
}

TEST_F(KernelSources, ALimitThatNoSocketGetsRoundIsNamedAndLeavesWhatWasThere) {
  EXPECT_EQ(set(some(1, 2)), 0);
  run("sysctl -qw net.ipv4.igmp_max_msf=1");
  EXPECT_EQ(set(some(1, 4)), 0) << "one on each of two more sockets";
  EXPECT_EQ(groups_.socket_count(), 3u);
  run("sysctl -qw net.ipv4.igmp_max_memberships=0");
  EXPECT_EQ(set(some(1, 5)), -ENOBUFS);
  EXPECT_EQ(sources(), 4u);
  EXPECT_EQ(groups_.set(ipv4(239, 1, 2, 9), kEverySource), -ENOBUFS);
  EXPECT_THAT(KernelGroups::cure(-ENOBUFS, ipv4(239, 1, 2, 9)),
              HasSubstr("sysctl net.ipv4.igmp_max_memberships"));
  EXPECT_THAT(KernelGroups::cure(-EMFILE, ipv4(239, 1, 2, 9)), HasSubstr("ulimit -n"));
}

// With the kernel's limits as they are: 20 groups of IPv4 on a socket, about 2,340 of IPv6.
TEST_F(KernelSources, Holds8192GroupsOfEachFamily) {
  const auto start = std::chrono::steady_clock::now();
  Gid mld{{0xff, 0x15}};
  for (uint32_t i = 0; i < 8192; ++i) {
    ASSERT_EQ(groups_.set(Gid::from_ipv4(0xEF010000 + i), kEverySource), 0) << i;
    store_be32(mld.bytes.data() + 12, 0x10000 + i);
    ASSERT_EQ(groups_.set(mld, kEverySource), 0) << i;
  }
  const std::string all = shown();
  EXPECT_EQ(lines(all, "inet  239.1."), 8192u);
  EXPECT_EQ(lines(all, "inet6 ff15::1:"), 8192u);
  EXPECT_LE(groups_.socket_count(), 8192u / 20 + 1 + 8);
  for (uint32_t i = 0; i < 8192; ++i) {
    ASSERT_EQ(groups_.set(Gid::from_ipv4(0xEF010000 + i), kNoSource), 0) << i;
    store_be32(mld.bytes.data() + 12, 0x10000 + i);
    ASSERT_EQ(groups_.set(mld, kNoSource), 0) << i;
  }
  EXPECT_EQ(groups_.socket_count(), 0u);
  EXPECT_THAT(shown(), Not(HasSubstr("239.1.")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(KernelGroupsTest, EndOfTheObjectLeavesAll) {
  {
    KernelGroups groups(index_of("va"));
    EXPECT_EQ(groups.set(ipv4(239, 1, 2, 3), kEverySource), 0);
  }
  EXPECT_THAT(shown(), Not(HasSubstr("239.1.2.3")));
}

}  // namespace
}  // namespace uroce::nic
