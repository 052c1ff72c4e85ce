// SPDX-License-Identifier: BSD-3-Clause
// Tests of hardware statistics: names, refusals, how long a reading is good for.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class StatsTest : public FaceTest {
 protected:
  StatsTest() : stats_(ib_alloc_hw_port_stats(ibdev_, 1)) { EXPECT_FALSE(IS_ERR(stats_)); }
  ~StatsTest() override { rdma_free_hw_stats_struct(stats_); }

  int index_of(const std::string& name) const {
    for (int i = 0; i < stats_->num_counters; ++i) {
      if (name == stats_->descs[i].name) return i;
    }
    ADD_FAILURE() << "no counter " << name;
    return 0;
  }
  __u64 value(const std::string& name) const { return stats_->value[index_of(name)]; }
  void send_one(ib_qp* qp, ib_ah* ah) {
    ASSERT_EQ(post_datagram(qp, ah, 0x77, memory_.data(), 8, 1), 0);
    settle_and_poll();
  }

  rdma_hw_stats* stats_;
};

// ST-01.
TEST_F(StatsTest, NamesAreUniqueAndThoseOfRxeWhereTheEventIs) {
  std::set<std::string> names;
  for (int i = 0; i < stats_->num_counters; ++i) {
    EXPECT_NE(std::string(stats_->descs[i].name), "");
    EXPECT_TRUE(names.insert(stats_->descs[i].name).second) << stats_->descs[i].name;
    EXPECT_EQ(index_of(stats_->descs[i].name), i);
  }
  for (const char* name : {"sent_pkts", "rcvd_pkts", "duplicate_request", "out_of_seq_request",
                           "rcvd_rnr_err", "send_rnr_err", "rcvd_seq_err", "retry_exceeded_err",
                           "retry_rnr_exceeded_err", "rdma_sends", "rdma_recvs"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

// ST-02.
TEST_F(StatsTest, AFreshBlockIsZero) {
  EXPECT_EQ(stats_->timestamp, 0u);
  EXPECT_EQ(stats_->lifespan, 10'000'000u);
  for (int i = 0; i < stats_->num_counters; ++i) EXPECT_EQ(stats_->value[i], 0u);
}

// ST-03, ST-04.
TEST_F(StatsTest, PortsThatDoNotExistAreRefused) {
  EXPECT_EQ(ib_get_hw_stats(ibdev_, stats_, 0), -EINVAL);
  EXPECT_EQ(ib_get_hw_stats(ibdev_, stats_, 2), -EINVAL);
  EXPECT_EQ(ib_get_hw_stats(ibdev_, nullptr, 1), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_hw_port_stats(ibdev_, 0)), -EINVAL);
  EXPECT_EQ(ib_get_hw_stats(ibdev_, stats_, 1), stats_->num_counters);
}

// ST-05.
TEST_F(StatsTest, AReadingIsGoodForTenMilliseconds) {
  ib_qp* qp = make_sender(cq_);
  ib_ah* ah = handle_to(device::kTestGroup);
  send_one(qp, ah);
  ASSERT_GT(ib_get_hw_stats(ibdev_, stats_, 1), 0);
  const __u64 first = value("sent_pkts");
  EXPECT_GE(first, 1u);
  send_one(qp, ah);
  ASSERT_GT(ib_get_hw_stats(ibdev_, stats_, 1), 0);
  EXPECT_EQ(value("sent_pkts"), first);
  bed_.pass(std::chrono::milliseconds(10));
  ASSERT_GT(ib_get_hw_stats(ibdev_, stats_, 1), 0);
  EXPECT_EQ(value("sent_pkts"), first + 1);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
}

// ST-06.
TEST_F(StatsTest, ACounterThatIsOffKeepsItsValue) {
  EXPECT_EQ(rdma_hw_stat_enable(stats_, -1, false), -EINVAL);
  EXPECT_EQ(rdma_hw_stat_enable(stats_, stats_->num_counters, false), -EINVAL);
  const int sent = index_of("sent_pkts");
  ASSERT_EQ(rdma_hw_stat_enable(stats_, sent, false), 0);
  ib_qp* qp = make_sender(cq_);
  send_one(qp, handle_to(device::kTestGroup));
  ASSERT_GT(ib_get_hw_stats(ibdev_, stats_, 1), 0);
  EXPECT_EQ(stats_->value[sent], 0u);
  EXPECT_EQ(value("rdma_sends"), 1u);
  ASSERT_EQ(rdma_hw_stat_enable(stats_, sent, true), 0);
  bed_.pass(std::chrono::milliseconds(10));
  ASSERT_GT(ib_get_hw_stats(ibdev_, stats_, 1), 0);
  EXPECT_GE(stats_->value[sent], 1u);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
}

TEST(StatsOfAStub, AreNotThere) {
  const ib_device_ops ops{};
  ib_device stub{};
  stub.ops = &ops;
  EXPECT_EQ(PTR_ERR(ib_alloc_hw_port_stats(&stub, 1)), -EOPNOTSUPP);
  EXPECT_EQ(ib_get_hw_stats(&stub, nullptr, 1), -EOPNOTSUPP);
}

}  // namespace
}  // namespace uroce::verbs
