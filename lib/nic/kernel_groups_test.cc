// SPDX-License-Identifier: BSD-3-Clause
// Group joins by the kernel: more groups than one socket holds, seen in `ip maddr`.
#include "nic/kernel_groups.h"

#include <gmock/gmock.h>

#include <cerrno>

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
  EXPECT_EQ(groups.join(ipv4(239, 1, 2, 3)), 0);
  EXPECT_EQ(groups.join(mld), 0);
  EXPECT_THAT(shown(), HasSubstr("inet  239.1.2.3"));
  EXPECT_THAT(shown(), HasSubstr("01:00:5e:01:02:03"));
  EXPECT_THAT(shown(), HasSubstr("inet6 ff15::1234"));
  EXPECT_EQ(groups.leave(ipv4(239, 1, 2, 3)), 0);
  EXPECT_EQ(groups.leave(mld), 0);
  EXPECT_THAT(shown(), Not(HasSubstr("239.1.2.3")));
  EXPECT_THAT(shown(), Not(HasSubstr("ff15::1234")));
  EXPECT_EQ(groups.socket_count(), 0u);
}

TEST_F(KernelGroupsTest, TakesAsManySocketsAsTheKernelsLimitAsksFor) {
  KernelGroups groups(index_of("va"));
  for (uint8_t i = 1; i <= 45; ++i) ASSERT_EQ(groups.join(ipv4(239, 1, 2, i)), 0) << int{i};
  EXPECT_EQ(groups.socket_count(), 3u);
  EXPECT_THAT(shown(), HasSubstr("239.1.2.45"));
  EXPECT_EQ(groups.leave(ipv4(239, 1, 2, 5)), 0);
  EXPECT_EQ(groups.join(ipv4(239, 1, 3, 1)), 0);  // into the hole
  EXPECT_EQ(groups.join(ipv4(239, 1, 3, 2)), 0);
  EXPECT_EQ(groups.socket_count(), 3u);
}

TEST_F(KernelGroupsTest, NamesWhatCannotBeDone) {
  KernelGroups groups(index_of("va"));
  EXPECT_EQ(groups.join(ipv4(10, 9, 0, 1)), -EINVAL);
  EXPECT_EQ(groups.join(ipv4(239, 1, 2, 3)), 0);
  EXPECT_EQ(groups.join(ipv4(239, 1, 2, 3)), -EEXIST);
  EXPECT_EQ(groups.leave(ipv4(239, 1, 2, 4)), -ENOENT);
  KernelGroups nowhere(9999);
  EXPECT_EQ(nowhere.join(ipv4(239, 1, 2, 3)), -ENODEV);
}

TEST_F(KernelGroupsTest, EndOfTheObjectLeavesAll) {
  {
    KernelGroups groups(index_of("va"));
    EXPECT_EQ(groups.join(ipv4(239, 1, 2, 3)), 0);
  }
  EXPECT_THAT(shown(), Not(HasSubstr("239.1.2.3")));
}

}  // namespace
}  // namespace uroce::nic
