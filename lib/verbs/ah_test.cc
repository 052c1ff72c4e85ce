// SPDX-License-Identifier: BSD-3-Clause
// Tests of address handles of the native face.
#include <gtest/gtest.h>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class AhTest : public FaceTest {
 protected:
  long error_of(rdma_ah_attr attr) {
    ib_ah* ah = rdma_create_ah(pd_, &attr, RDMA_CREATE_AH_SLEEPABLE);
    if (IS_ERR(ah)) return PTR_ERR(ah);
    ahs_.push_back(ah);
    return 0;
  }
  __u32 users() { return of(pd_).object->use_count; }
};

// AH-01, AH-02, AH-03, AH-05.
TEST_F(AhTest, WrongAttributesAreRefusedInTheKernelsOrder) {
  rdma_ah_attr attr = to(device::kTestGroup);
  attr.port_num = 0;
  EXPECT_EQ(error_of(attr), -EINVAL);
  attr.port_num = 2;
  EXPECT_EQ(error_of(attr), -EINVAL);
  attr = to(device::kTestGroup);
  attr.ah_flags = 0;
  EXPECT_EQ(error_of(attr), -EINVAL);
  EXPECT_EQ(error_of(to(device::kTestGroup, 200)), -EINVAL);
  EXPECT_EQ(error_of(to(device::kTestGroup, 5)), -ENODATA);
  EXPECT_EQ(error_of(to(device::kTestGroup6, 1)), -EINVAL);
  attr = to(device::kTestGroup);
  attr.type = RDMA_AH_ATTR_TYPE_IB;
  EXPECT_EQ(error_of(attr), -EINVAL);
  EXPECT_EQ(users(), 0u);
}

// AH-04, AH-24.
TEST_F(AhTest, AHandleKeepsItsDomain) {
  rdma_ah_attr attr = to(device::kTestGroup);
  ib_ah* ah = rdma_create_ah(pd_, &attr, 0);
  ASSERT_FALSE(IS_ERR(ah));
  EXPECT_EQ(ah->type, RDMA_AH_ATTR_TYPE_ROCE);
  EXPECT_EQ(users(), 1u);
  EXPECT_EQ(ib_dealloc_pd(pd_), -EBUSY);
  EXPECT_EQ(rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE), 0);
  EXPECT_EQ(users(), 0u);
}

// AH-10, AH-12: the user's form finds the MAC address itself, whatever was given.
TEST_F(AhTest, TheUserFormDoesNotBelieveTheMacGiven) {
  rdma_ah_attr attr = to(device::kTestGroup);
  attr.roce.dmac[0] = 2;
  ib_ah* ah = rdma_create_user_ah(pd_, &attr, nullptr);
  ASSERT_FALSE(IS_ERR(ah));
  rdma_ah_attr seen{};
  EXPECT_EQ(rdma_query_ah(ah, &seen), 0);
  const __u8 mac[] = {0x01, 0x00, 0x5e, 0x01, 0x02, 0x03};
  EXPECT_EQ(std::memcmp(seen.roce.dmac, mac, 6), 0);
  EXPECT_EQ(rdma_destroy_ah(ah, 0), 0);
}

// AH-26, UD-01, UD-02.
TEST_F(AhTest, TheUserFormsAreThePlainOnes) {
  rdma_ah_attr attr = to(device::kTestGroup);
  ib_udata udata{};
  ib_ah* ah = rdma_create_user_ah(pd_, &attr, &udata);
  ASSERT_FALSE(IS_ERR(ah));
  EXPECT_EQ(users(), 1u);
  udata.outlen = 4;
  EXPECT_EQ(PTR_ERR(rdma_create_user_ah(pd_, &attr, &udata)), -EINVAL);
  EXPECT_EQ(rdma_destroy_ah_user(ah, 0, &udata), -EINVAL);
  EXPECT_EQ(users(), 1u);
  udata.outlen = 0;
  EXPECT_EQ(rdma_destroy_ah_user(ah, 0, &udata), 0);
  EXPECT_EQ(users(), 0u);
}

// AH-20, AH-22, AH-23.
TEST_F(AhTest, QueryGivesBackWhatWasSetAndModifyIsAllOrNothing) {
  rdma_ah_attr attr = to(device::kTestGroup);
  attr.sl = 3;
  attr.grh.flow_label = 0x12345;
  attr.grh.traffic_class = 0x6a;
  attr.grh.hop_limit = 9;
  ib_ah* ah = rdma_create_ah(pd_, &attr, 0);
  ASSERT_FALSE(IS_ERR(ah));
  ahs_.push_back(ah);
  rdma_ah_attr seen{};
  EXPECT_EQ(rdma_query_ah(ah, &seen), 0);
  EXPECT_EQ(std::memcmp(&seen.grh.dgid, &attr.grh.dgid, 16), 0);
  EXPECT_EQ(seen.grh.sgid_attr, nullptr);
  EXPECT_EQ(seen.sl, 3);
  EXPECT_EQ(seen.grh.flow_label, 0x12345u);
  EXPECT_EQ(seen.grh.traffic_class, 0x6a);
  EXPECT_EQ(seen.grh.hop_limit, 9);
  EXPECT_EQ(seen.grh.sgid_index, 1);
  EXPECT_EQ(seen.port_num, 1u);
  EXPECT_EQ(seen.ah_flags, IB_AH_GRH);

  rdma_ah_attr wrong = to(device::kTestIpv4, 200);
  EXPECT_EQ(rdma_modify_ah(ah, &wrong), -EINVAL);
  wrong = to(device::kTestIpv4);
  wrong.type = RDMA_AH_ATTR_TYPE_IB;
  EXPECT_EQ(rdma_modify_ah(ah, &wrong), -EINVAL);
  EXPECT_EQ(rdma_query_ah(ah, &seen), 0);
  EXPECT_EQ(seen.sl, 3);
  rdma_ah_attr right = to(device::kTestIpv4);
  EXPECT_EQ(rdma_modify_ah(ah, &right), 0);
  EXPECT_EQ(rdma_query_ah(ah, &seen), 0);
  EXPECT_EQ(seen.sl, 0);
}

// AH-14; cases 59.
TEST_F(AhTest, AnUnknownNeighbourIsAnErrorAndLeavesNoHandle) {
  EXPECT_EQ(error_of(to(device::kTestPeer)), -ETIMEDOUT);
  EXPECT_EQ(users(), 0u);
}

}  // namespace
}  // namespace uroce::verbs
