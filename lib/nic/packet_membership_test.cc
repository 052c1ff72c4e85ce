// SPDX-License-Identifier: BSD-3-Clause
// Membership by MAC: the filter opens, and the kernel joins no group.
#include "nic/packet_membership.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "nic/netns_test.h"

namespace uroce::nic {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PacketMembershipTest : public NetnsTest {
 protected:
  static std::string shown() { return output("ip maddr show dev va"); }
  static MacAddress mac(uint8_t last) { return {{0x01, 0x00, 0x5e, 0x01, 0x02, last}}; }
};

TEST_F(PacketMembershipTest, FilterFollowsTheSetWithoutAKernelGroup) {
  PacketMembership membership(index_of("va"));
  const MacAddress first[] = {mac(1), mac(2)};
  EXPECT_EQ(membership.set(first), 0);
  EXPECT_THAT(shown(), AllOf(HasSubstr("01:00:5e:01:02:01"), HasSubstr("01:00:5e:01:02:02"),
                             Not(HasSubstr("239.1.2.1"))));
  const MacAddress second[] = {mac(2), mac(3)};
  EXPECT_EQ(membership.set(second), 0);
  EXPECT_THAT(shown(), AllOf(Not(HasSubstr("01:00:5e:01:02:01")), HasSubstr("01:00:5e:01:02:02"),
                             HasSubstr("01:00:5e:01:02:03")));
  EXPECT_EQ(membership.set({}), 0);
  EXPECT_THAT(shown(), Not(HasSubstr("01:00:5e:01:02")));
}

TEST_F(PacketMembershipTest, HoldsManyAndGivesAllBackAtTheEnd) {
  {
    PacketMembership membership(index_of("va"));
    std::vector<MacAddress> macs;
    for (uint8_t i = 0; i < 200; ++i) macs.push_back(mac(i));
    EXPECT_EQ(membership.set(macs), 0);
    EXPECT_THAT(shown(), HasSubstr("01:00:5e:01:02:c7"));
  }
  EXPECT_THAT(shown(), Not(HasSubstr("01:00:5e:01:02")));
}

TEST_F(PacketMembershipTest, MissingInterfaceIsAnErrorOnlyWhenSomethingIsWanted) {
  PacketMembership membership(9999);
  EXPECT_EQ(membership.set({}), 0);
  const MacAddress one[] = {mac(1)};
  EXPECT_EQ(membership.set(one), -ENODEV);
}

}  // namespace
}  // namespace uroce::nic
