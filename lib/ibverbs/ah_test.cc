// SPDX-License-Identifier: BSD-3-Clause
// Tests of address handles as objects.
#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

TEST_F(DomainTest, HasAddressHandles) {
  ibv_ah_attr attr = to(device::kTestIpv4);
  ibv_ah* const ah = ibv_create_ah(pd_, &attr);
  ASSERT_NE(ah, nullptr);
  EXPECT_EQ(ah->context, context_);
  EXPECT_EQ(ah->pd, pd_);
  EXPECT_EQ(of(ah).object->attributes.dmac, device::kTestMac);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

// RoCE packets always have the global header.
TEST_F(DomainTest, HasNoAddressHandlesWithoutTheGlobalHeader) {
  ibv_ah_attr attr = to(device::kTestIpv4);
  attr.is_global = 0;
  errno = 0;
  EXPECT_EQ(ibv_create_ah(pd_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(DomainTest, HasNoAddressHandlesFromNowhereOrToNobody) {
  ibv_ah_attr attr = to(device::kTestIpv4, 3);
  errno = 0;
  EXPECT_EQ(ibv_create_ah(pd_, &attr), nullptr);
  EXPECT_EQ(errno, ENODATA) << "an empty entry of the GID table";
  attr = to(device::kTestPeer);
  errno = 0;
  EXPECT_EQ(ibv_create_ah(pd_, &attr), nullptr);
  EXPECT_EQ(errno, ETIMEDOUT) << "nobody answers";
}

}  // namespace
}  // namespace uroce::ibverbs
