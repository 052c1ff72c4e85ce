// SPDX-License-Identifier: BSD-3-Clause
// Tests of the counting of group members and MAC addresses.
#include "device/group_registry.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "group/mgid.h"

namespace uroce::device {
namespace {

const Gid kGroup = Gid::from_ipv4(0xEF010203);    // 239.1.2.3
const Gid kSameMac = Gid::from_ipv4(0xEF810203);  // 239.129.2.3
const Gid kOtherGroup = Gid::from_ipv4(0xEF010204);

TEST(GroupRegistry, SaysWhichMemberIsTheFirstAndWhichTheLast) {
  GroupRegistry groups{DeviceLimits{}};
  EXPECT_TRUE(groups.add_member(kGroup));
  EXPECT_FALSE(groups.add_member(kGroup));
  EXPECT_FALSE(groups.remove_member(kGroup));
  EXPECT_TRUE(groups.remove_member(kGroup));
  EXPECT_FALSE(groups.remove_member(kGroup));
  EXPECT_EQ(groups.group_count(), 0u);
  EXPECT_EQ(groups.member_total(), 0u);
}

// MF-02.
TEST(GroupRegistry, AMacThatTwoGroupsShareStaysUntilBothHaveGone) {
  GroupRegistry groups{DeviceLimits{}};
  EXPECT_EQ(group::mac_of(kGroup), group::mac_of(kSameMac));
  EXPECT_TRUE(groups.add_mac(group::mac_of(kGroup)));
  EXPECT_FALSE(groups.add_mac(group::mac_of(kSameMac)));
  EXPECT_EQ(groups.macs().size(), 1u);
  EXPECT_FALSE(groups.remove_mac(group::mac_of(kGroup)));
  EXPECT_TRUE(groups.remove_mac(group::mac_of(kSameMac)));
  EXPECT_TRUE(groups.macs().empty());
}

// MC-08.
TEST(GroupRegistry, EveryLimitIsAnError) {
  DeviceLimits limits;
  limits.group_max = 2;
  limits.group_qp_max = 3;
  limits.membership_max = 4;
  GroupRegistry groups{limits};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(groups.room_for(kGroup), 0);
    groups.add_member(kGroup);
  }
  EXPECT_EQ(groups.room_for(kGroup), -ENOMEM) << "members of one group";
  EXPECT_EQ(groups.room_for(kOtherGroup), 0);
  groups.add_member(kOtherGroup);
  EXPECT_EQ(groups.room_for(kOtherGroup), -ENOMEM) << "memberships in all";
  groups.remove_member(kGroup);
  EXPECT_EQ(groups.room_for(kOtherGroup), 0);
  EXPECT_EQ(groups.room_for(kSameMac), -ENOMEM) << "groups";
}

}  // namespace
}  // namespace uroce::device
