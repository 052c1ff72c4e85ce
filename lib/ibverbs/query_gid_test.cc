// SPDX-License-Identifier: BSD-3-Clause
// Tests of the GID table as programs see it.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

class GidsTest : public FaceTest {
 protected:
  Gid gid(int index) {
    ibv_gid raw;
    std::memset(&raw, 0x55, sizeof raw);
    EXPECT_EQ(ibv_query_gid(context_, 1, index, &raw), 0);
    return to_gid(raw);
  }
  void expect_the_table() {
    EXPECT_EQ(gid(0), device::link_local_gid(device::kTestMac));
    EXPECT_EQ(gid(1), device::kTestIpv4);
    EXPECT_EQ(gid(2), device::kTestIpv6);
    EXPECT_TRUE(gid(3).is_zero()) << "an empty entry";
  }
};

TEST_F(GidsTest, AreKnownBeforeTheDeviceRunsAndStayAsTheyAre) {
  expect_the_table();
  EXPECT_EQ(runtime_.running(0), nullptr);
  ibv_pd* const pd = ibv_alloc_pd(context_);
  expect_the_table();
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(GidsTest, FollowTheAddressesOfADeviceThatRuns) {
  ibv_pd* const pd = ibv_alloc_pd(context_);
  bed().port.list.push_back({device::kTestPeer, 24});
  EXPECT_TRUE(gid(3).is_zero());
  EXPECT_EQ(bed().device().rescan_addresses(), 0);
  EXPECT_EQ(gid(3), device::kTestPeer);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(GidsTest, OutsideTheTableAreRefused) {
  ibv_gid raw{};
  for (const int index : {-1, 128}) {
    errno = 0;
    EXPECT_EQ(ibv_query_gid(context_, 1, index, &raw), -1);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(ibv_query_gid(context_, 2, 0, &raw), -1);
}

TEST_F(GidsTest, SayTheirTypeAndInterface) {
  bed().port.port.kernel_if_index = 9;
  ibv_gid_entry entry{};
  ASSERT_EQ(ibv_query_gid_ex(context_, 1, 1, &entry, 0), 0);
  EXPECT_EQ(to_gid(entry.gid), device::kTestIpv4);
  EXPECT_EQ(entry.gid_index, 1u);
  EXPECT_EQ(entry.port_num, 1u);
  EXPECT_EQ(entry.gid_type, uint32_t{IBV_GID_TYPE_ROCE_V2});
  EXPECT_EQ(entry.ndev_ifindex, 9u);
  EXPECT_EQ(ibv_query_gid_ex(context_, 1, 3, &entry, 0), ENODATA);
  EXPECT_EQ(ibv_query_gid_ex(context_, 1, 128, &entry, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(context_, 2, 0, &entry, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(context_, 1, 0, &entry, 1), EINVAL);
  EXPECT_EQ(_ibv_query_gid_ex(context_, 1, 0, &entry, 0, 8), EINVAL);
}

TEST_F(GidsTest, AreListedWithoutTheEmptyEntries) {
  std::array<ibv_gid_entry, 8> table{};
  ASSERT_EQ(ibv_query_gid_table(context_, table.data(), table.size(), 0), 3);
  EXPECT_EQ(to_gid(table[2].gid), device::kTestIpv6);
  EXPECT_EQ(table[2].gid_index, 2u);
  EXPECT_EQ(ibv_query_gid_table(context_, table.data(), 3, 0), 3);
  EXPECT_EQ(ibv_query_gid_table(context_, table.data(), 2, 0), -EINVAL);
  EXPECT_EQ(ibv_query_gid_table(context_, nullptr, 0, 0), -EINVAL);
  EXPECT_EQ(ibv_query_gid_table(context_, table.data(), 8, 1), -EINVAL);
}

// A program of another version has entries of another size.
TEST_F(GidsTest, AreListedInTheCallersSize) {
  struct Longer {
    ibv_gid_entry entry;
    uint64_t more = 0x55;
  };
  std::array<Longer, 3> table{};
  ASSERT_EQ(_ibv_query_gid_table(context_, &table[0].entry, 3, 0, sizeof(Longer)), 3);
  EXPECT_EQ(to_gid(table[1].entry.gid), device::kTestIpv4);
  EXPECT_EQ(to_gid(table[2].entry.gid), device::kTestIpv6);
  EXPECT_EQ(table[1].more, 0u);
}

}  // namespace
}  // namespace uroce::ibverbs
