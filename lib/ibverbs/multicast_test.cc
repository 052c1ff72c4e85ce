// SPDX-License-Identifier: BSD-3-Clause
// Tests of multicast attach and detach.
#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

class MulticastTest : public QueuesTest {
 protected:
  MulticastTest() {
    from_gid(device::kTestGroup, group_);
    qp_ = make(IBV_QPT_UD);
    bring_to(qp_, IBV_QPS_RTS);
  }
  ibv_gid group_{};
  ibv_qp* qp_ = nullptr;
};

TEST_F(MulticastTest, MakesTheQueuePairAMember) {
  EXPECT_EQ(ibv_attach_mcast(qp_, &group_, 0), 0);
  EXPECT_EQ(bed().device().list_groups().size(), 1u);
  EXPECT_EQ(ibv_destroy_qp(qp_), EBUSY) << "a member stays";
  EXPECT_EQ(ibv_detach_mcast(qp_, &group_, 0), 0);
  EXPECT_TRUE(bed().device().list_groups().empty());
}

TEST_F(MulticastTest, IsForGroupsAndDatagramsOnly) {
  ibv_gid host{};
  from_gid(device::kTestPeer, host);
  EXPECT_EQ(ibv_attach_mcast(qp_, &host, 0), EINVAL);
  ibv_qp* const connection = make(IBV_QPT_RC);
  EXPECT_EQ(ibv_attach_mcast(connection, &group_, 0), EINVAL);
  EXPECT_EQ(ibv_detach_mcast(connection, &group_, 0), EINVAL);
  EXPECT_NE(ibv_detach_mcast(qp_, &group_, 0), 0) << "not a member";
}

}  // namespace
}  // namespace uroce::ibverbs
