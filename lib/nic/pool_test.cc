// SPDX-License-Identifier: BSD-3-Clause
// Pools: the count covers every place of an mbuf, and a refusal names the -m that would do.
#include "nic/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include "nic/queue.h"

namespace uroce::nic {
namespace {

using ::testing::HasSubstr;

TEST(Pool, CountCoversDescriptorsHeldFramesAndCaches) {
  const PoolNeeds needs{.queue_count = 2,
                        .rx_descriptors = 512,
                        .tx_descriptors = 256,
                        .frames_held_max = 100,
                        .fault_held_max = 0,
                        .lcores = 3};
  const uint32_t bare = 2 * (512 + 256 + 100 + kLocalCapacity + 2 * kBurst);
  EXPECT_GE(pool_mbuf_count(needs), bare + 3 * 192);
  PoolNeeds more = needs;
  more.fault_held_max = 512;
  EXPECT_EQ(pool_mbuf_count(more), pool_mbuf_count(needs) + 2 * 512);
}

TEST(Pool, MbufHoldsTheWantedRoomAndLevelIsSeen) {
  auto pool = make_pool("p", 512, 4202, SOCKET_ID_ANY);
  ASSERT_TRUE(pool.ok()) << pool.status();
  rte_mbuf* mbuf = rte_pktmbuf_alloc(*pool);
  ASSERT_NE(mbuf, nullptr);
  EXPECT_GE(rte_pktmbuf_tailroom(mbuf), 4202u);
  uint32_t missing = 0;
  EXPECT_FALSE(pool_is_full(*pool, missing));
  EXPECT_EQ(missing, 1u);
  rte_pktmbuf_free(mbuf);
  EXPECT_TRUE(pool_is_full(*pool, missing));
  EXPECT_EQ(missing, 0u);
  rte_mempool_free(*pool);
}

TEST(Pool, TooLittleMemoryNamesTheSwitchThatWouldDo) {
  const auto pool = make_pool("net_ring_u0", 200'000, 4202, SOCKET_ID_ANY);
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(pool.status().message()),
              ::testing::ContainsRegex("^port net_ring_u0: no memory .*-m [0-9]+$"));
}

TEST(Pool, FramesLargerThanAnMbufCanBeAreRefused) {
  const auto pool = make_pool("p", 16, 65'500, SOCKET_ID_ANY);
  ASSERT_FALSE(pool.ok());
  EXPECT_THAT(std::string(pool.status().message()), HasSubstr("smaller mtu"));
}

}  // namespace
}  // namespace uroce::nic
