// SPDX-License-Identifier: BSD-3-Clause
// Control calls of several threads against running engines: each is answered, and the listing never
// sees half an object.
#include <gtest/gtest.h>

#include "test/threads/bed.h"

namespace uroce::threads {
namespace {

void live_and_die(Bed& bed, const Gid& group) {
  End left(bed, IB_QPT_RC);
  End right(bed, IB_QPT_RC);
  left.connect(right);
  right.connect(left);
  ib_qp_attr attr{};
  ib_qp_init_attr init{};
  EXPECT_EQ(ib_query_qp(left.qp(), &attr, IB_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_RTS);
  EXPECT_EQ(attr.dest_qp_num, right.qp()->qp_num);
  EXPECT_TRUE(left.post_write(right.target()));
  EXPECT_TRUE(eventually([&] { return !left.poll().empty(); }));
  End member(bed, IB_QPT_UD);
  member.activate();
  ib_gid mgid = gid_of(group);
  EXPECT_EQ(ib_attach_mcast(member.qp(), &mgid, 0), 0);
  EXPECT_EQ(ib_destroy_qp(member.qp()), -EBUSY);
  EXPECT_EQ(ib_detach_mcast(member.qp(), &mgid, 0), 0);
  EXPECT_EQ(ib_detach_mcast(member.qp(), &mgid, 0), -EINVAL);
  ib_ah* ah = make_ah(member, device::kTestIpv4);
  EXPECT_EQ(rdma_destroy_ah(ah, 0), 0);
}

void run(engine::DriveMode mode, const std::function<void(Bed&)>& also) {
  Bed bed(mode);
  std::atomic<int> living{3};
  std::vector<std::thread> threads;
  for (uint8_t i = 0; i < 3; ++i) {
    threads.emplace_back([&bed, &living, i] {
      // Two threads share a group; the third has one of its own.
      const Gid group = Gid::from_ipv4(0xEF010200u + i / 2);
      for (int round = 0; round < 30; ++round) live_and_die(bed, group);
      --living;
    });
  }
  uint64_t listings = 0;
  while (living > 0) {
    std::vector<device::QpSummary> qps;
    EXPECT_EQ(bed.object().list_qps(qps), 0);
    for (const device::GroupSummary& group : bed.object().list_groups()) {
      EXPECT_FALSE(group.members.empty());
    }
    ++listings;
    also(bed);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(listings, 0u);
  std::vector<device::QpSummary> left;
  EXPECT_EQ(bed.object().list_qps(left), 0);
  EXPECT_TRUE(left.empty());
  EXPECT_TRUE(bed.object().list_groups().empty());
}

TEST(ControlCalls, OfSeveralThreadsAreAnsweredByWorkers) {
  run(engine::DriveMode::kWorker, [](Bed&) { std::this_thread::yield(); });
}

// Nobody but the callers and one polling thread drives the engines; the baton goes round.
TEST(ControlCalls, OfSeveralThreadsTakeTheBatonInSharedMode) {
  run(engine::DriveMode::kInlineShared, [](Bed& bed) {
    for (int i = 0; i < 20; ++i) bed.poll();
  });
}

}  // namespace
}  // namespace uroce::threads
