// SPDX-License-Identifier: BSD-3-Clause
// Tests of the lists for display.
#include <gtest/gtest.h>

#include "device/device_fixture.h"
#include "group/mgid.h"

namespace uroce::device {
namespace {

using transport::QpState;
using transport::QpType;

class Listing : public ObjectsBed, public testing::Test {};

TEST_F(Listing, AnEmptyDeviceListsNothing) {
  std::vector<QpSummary> qps;
  EXPECT_EQ(device().list_qps(qps), 0);
  EXPECT_TRUE(qps.empty());
  EXPECT_TRUE(device().list_groups().empty());
}

TEST_F(Listing, QueuePairsAreListedByQpnUntilTheyAreDestroyed) {
  QpHandle rc;
  QpHandle ud;
  make(QpType::kRc, rc);
  make(QpType::kUd, ud);
  std::vector<QpSummary> qps;
  ASSERT_EQ(device().list_qps(qps), 0);
  ASSERT_EQ(qps.size(), 2u);
  EXPECT_LT(qps[0].qpn.value(), qps[1].qpn.value());
  const QpSummary& listed = qps[qps[0].qpn == ud.qpn ? 0 : 1];
  EXPECT_EQ(listed.qpn, ud.qpn);
  EXPECT_EQ(listed.type, QpType::kUd);
  EXPECT_EQ(listed.attributes.state, QpState::kReset);
  EXPECT_FALSE(listed.has_path);
  EXPECT_EQ(device().destroy_qp(rc), 0);
  qps.clear();
  ASSERT_EQ(device().list_qps(qps), 0);
  ASSERT_EQ(qps.size(), 1u);
  EXPECT_EQ(qps[0].qpn, ud.qpn);
  EXPECT_EQ(device().destroy_qp(ud), 0);
}

TEST_F(Listing, AGroupNamesItsMembersAndItsMac) {
  QpHandle a;
  QpHandle b;
  make(QpType::kUd, a);
  make(QpType::kUd, b);
  ASSERT_EQ(device().attach_multicast(a, kTestGroup), 0);
  ASSERT_EQ(device().attach_multicast(b, kTestGroup), 0);
  ASSERT_EQ(device().attach_multicast(b, kTestGroup6), 0);
  const std::vector<GroupSummary> groups = device().list_groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].group, kTestGroup);
  EXPECT_EQ(groups[0].mac, group::mac_of(kTestGroup));
  EXPECT_EQ(groups[0].members.size(), 2u);
  EXPECT_LT(groups[0].members[0].value(), groups[0].members[1].value());
  EXPECT_EQ(groups[1].members, std::vector{b.qpn});
  std::vector<QpSummary> qps;
  ASSERT_EQ(device().list_qps(qps), 0);
  EXPECT_EQ(qps[qps[0].qpn == b.qpn ? 0 : 1].groups, (std::vector{kTestGroup, kTestGroup6}));
  ASSERT_EQ(device().detach_multicast(b, kTestGroup), 0);
  EXPECT_EQ(device().list_groups()[0].members, std::vector{a.qpn});
  ASSERT_EQ(device().detach_multicast(b, kTestGroup6), 0);
  ASSERT_EQ(device().detach_multicast(a, kTestGroup), 0);
  EXPECT_EQ(device().destroy_qp(a), 0);
  EXPECT_EQ(device().destroy_qp(b), 0);
}

TEST_F(Listing, AGroupNamesTheSourcesOfItsMembers) {
  const Gid near = Gid::from_ipv4(0x0A000007);
  const Gid far = Gid::from_ipv4(0x0A000009);
  QpHandle every;
  QpHandle some;
  make(QpType::kUd, every);
  make(QpType::kUd, some);
  ASSERT_EQ(device().attach_multicast(every, kTestGroup), 0);
  EXPECT_TRUE(device().list_groups()[0].sources.empty());
  ASSERT_EQ(device().attach_multicast_source(some, kTestGroup, far), 0);
  ASSERT_EQ(device().attach_multicast_source(some, kTestGroup, near), 0);
  const GroupSummary group = device().list_groups()[0];
  ASSERT_EQ(group.members.size(), 2u);
  const size_t by_source = group.members[0] == some.qpn ? 0 : 1;
  EXPECT_EQ(group.member_sources[by_source], 2u);
  EXPECT_EQ(group.member_sources[1 - by_source], 0u);
  EXPECT_EQ(group.sources, (std::vector{near, far}));
  for (QpHandle* qp : {&every, &some}) {
    EXPECT_EQ(device().detach_multicast(*qp, kTestGroup), 0);
    EXPECT_EQ(device().destroy_qp(*qp), 0);
  }
}

}  // namespace
}  // namespace uroce::device
