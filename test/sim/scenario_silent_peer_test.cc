// SPDX-License-Identifier: BSD-3-Clause
// Case 23 of the field: a peer that falls silent costs the connection, in order and with one line.
#include <gtest/gtest.h>

#include <string>

#include "base/log.h"
#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

class SilentPeer : public testing::Test {
 protected:
  static constexpr uint8_t kTimeout = 12;  // 16.8 ms

  SilentPeer() {
    pair_.world.run_until(pair_.world.now() + Duration(5'000'000'000));
    set_log_sink(
        [](void* self, LogLevel, std::string_view sentence) {
          static_cast<SilentPeer*>(self)->lines_.emplace_back(sentence);
        },
        this);
  }
  ~SilentPeer() override { set_log_sink(nullptr, nullptr); }

  Pair pair_{kTimeout};
  std::vector<std::string> lines_;
};

TEST_F(SilentPeer, TheFirstRequestFailsTheOthersAreFlushedAndOneLineSaysWhoAndWhy) {
  pair_.post_write(64);
  pair_.world.run_until(pair_.world.now() + Duration(1'000'000));
  pair_.world.faults.loss = 1;
  for (int i = 0; i < 3; ++i) pair_.post_write(64);
  const Time start = pair_.world.now();
  pair_.world.run_until(start + Duration(1'000'000'000));
  std::vector<ib_wc_status> statuses;
  ib_wc wc;
  while (ib_poll_cq(pair_.a.cq, 1, &wc) == 1) statuses.push_back(wc.status);
  EXPECT_EQ(statuses, (std::vector{IB_WC_SUCCESS, IB_WC_RETRY_EXC_ERR, IB_WC_WR_FLUSH_ERR,
                                   IB_WC_WR_FLUSH_ERR}));
  char ends[64];
  std::snprintf(ends, sizeof ends, "QP 0x%06x to 10.0.0.2 QP 0x%06x ", pair_.a.qp->qp_num,
                pair_.b.qp->qp_num);
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].find(ends), 0u) << lines_[0];
  EXPECT_NE(lines_[0].find("PSN 0x000001, retry_cnt ran out"), std::string::npos) << lines_[0];
  EXPECT_NE(lines_[0].find("timeout 12: 16.777 ms"), std::string::npos) << lines_[0];
}

TEST_F(SilentPeer, LossThatRetriesRepairLeavesNoLine) {
  pair_.world.faults.loss = 0.2;
  for (int i = 0; i < 40; ++i) {
    pair_.post_write(4096);
    pair_.world.run_until(pair_.world.now() + Duration(200'000'000));
    ib_wc wc;
    ASSERT_EQ(ib_poll_cq(pair_.a.cq, 1, &wc), 1);
    ASSERT_EQ(wc.status, IB_WC_SUCCESS);
  }
  EXPECT_EQ(lines_.size(), 0u);
}

}  // namespace
}  // namespace uroce::sim
