// SPDX-License-Identifier: BSD-3-Clause
// Tests of the counting of group members and MAC addresses.
#include "device/group_registry.h"

#include <gtest/gtest.h>

#include <vector>

#include "group/mgid.h"

namespace uroce::device {
namespace {

const Gid kGroup = Gid::from_ipv4(0xEF010203);    // 239.1.2.3
const Gid kSameMac = Gid::from_ipv4(0xEF810203);  // 239.129.2.3
const Gid kEvery{};
const Gid kA = Gid::from_ipv4(0x0A000001);
const Gid kB = Gid::from_ipv4(0x0A000002);
const Gid kOtherGroup = Gid::from_ipv4(0xEF010204);

TEST(GroupRegistry, SaysWhichMemberIsTheFirstAndWhichTheLast) {
  GroupRegistry groups{DeviceLimits{}};
  EXPECT_TRUE(groups.add(kGroup, true, kEvery));
  EXPECT_FALSE(groups.add(kGroup, true, kEvery));
  EXPECT_EQ(groups.listeners(kGroup).mode, FilterMode::kExclude);
  EXPECT_FALSE(groups.remove(kGroup, true, kEvery));
  EXPECT_TRUE(groups.remove(kGroup, true, kEvery));
  EXPECT_FALSE(groups.remove(kGroup, true, kEvery));
  EXPECT_EQ(groups.group_count(), 0u);
  EXPECT_EQ(groups.member_total(), 0u);
}

// RFC 3376 3.2: the union of what members listen to.
TEST(GroupRegistry, ListensToTheSourcesOfAllMembers) {
  GroupRegistry groups{DeviceLimits{}};
  EXPECT_TRUE(groups.add(kGroup, true, kA));
  EXPECT_FALSE(groups.add(kGroup, true, kA)) << "another member, the same source";
  EXPECT_TRUE(groups.add(kGroup, false, kB));
  EXPECT_EQ(groups.members(kGroup), 2u);
  EXPECT_EQ(groups.listeners(kGroup).mode, FilterMode::kInclude);
  EXPECT_EQ(groups.listeners(kGroup).sources, (std::vector<Gid>{kA, kB}));
  EXPECT_TRUE(groups.add(kGroup, true, kEvery));
  EXPECT_EQ(groups.listeners(kGroup).mode, FilterMode::kExclude);
  EXPECT_TRUE(groups.listeners(kGroup).sources.empty());
  EXPECT_FALSE(groups.remove(kGroup, false, kB)) << "every source is let through";
  EXPECT_TRUE(groups.remove(kGroup, true, kEvery));
  EXPECT_EQ(groups.listeners(kGroup).sources, std::vector<Gid>{kA});
  EXPECT_FALSE(groups.remove(kGroup, true, kA));
  EXPECT_TRUE(groups.remove(kGroup, true, kA));
  EXPECT_EQ(groups.group_count(), 0u);
}

TEST(GroupRegistry, SourcesHaveALimitOfTheirOwn) {
  DeviceLimits limits;
  limits.source_max = 1;
  GroupRegistry groups{limits};
  EXPECT_EQ(groups.limit_met(kGroup, true, true), nullptr);
  groups.add(kGroup, true, kA);
  EXPECT_STREQ(groups.limit_met(kGroup, false, true), "multicast_sources");
  EXPECT_EQ(groups.limit_met(kOtherGroup, true, false), nullptr);
  groups.remove(kGroup, true, kA);
  EXPECT_EQ(groups.limit_met(kOtherGroup, true, true), nullptr);
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

TEST(GroupRegistry, TheSetOfMacsIsSortedInWhateverOrderTheyCome) {
  GroupRegistry groups{DeviceLimits{}};
  const auto mac = [](uint8_t last) { return MacAddress{{0x01, 0x00, 0x5e, 1, 2, last}}; };
  for (const auto& one : {mac(5), mac(1), mac(9), mac(5), mac(3)}) groups.add_mac(one);
  EXPECT_EQ(groups.macs(), (std::vector{mac(1), mac(3), mac(5), mac(9)}));
  EXPECT_FALSE(groups.remove_mac(mac(4))) << "nobody needs it";
  EXPECT_TRUE(groups.remove_mac(mac(3)));
  EXPECT_FALSE(groups.remove_mac(mac(5))) << "needed twice";
  EXPECT_EQ(groups.macs(), (std::vector{mac(1), mac(5), mac(9)}));
  EXPECT_TRUE(groups.remove_mac(mac(9)));
  EXPECT_TRUE(groups.remove_mac(mac(5)));
  EXPECT_EQ(groups.macs(), std::vector{mac(1)});
}

// MC-08.
TEST(GroupRegistry, EveryLimitIsAnError) {
  DeviceLimits limits;
  limits.group_max = 2;
  limits.group_qp_max = 3;
  limits.membership_max = 4;
  GroupRegistry groups{limits};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(groups.limit_met(kGroup, true, false), nullptr);
    groups.add(kGroup, true, kEvery);
  }
  EXPECT_STREQ(groups.limit_met(kGroup, true, false), "members_per_group");
  EXPECT_EQ(groups.limit_met(kOtherGroup, true, false), nullptr);
  groups.add(kOtherGroup, true, kEvery);
  EXPECT_STREQ(groups.limit_met(kOtherGroup, true, false), "multicast_members");
  groups.remove(kGroup, true, kEvery);
  EXPECT_EQ(groups.limit_met(kOtherGroup, true, false), nullptr);
  EXPECT_STREQ(groups.limit_met(kSameMac, true, false), "multicast_groups");
}

}  // namespace
}  // namespace uroce::device
