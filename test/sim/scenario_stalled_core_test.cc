// SPDX-License-Identifier: BSD-3-Clause
// A core that is taken away for a while, as hypervisors and schedulers do: frames pile up at the
// port and timers are late, and neither may look like a fault of the peer.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/sim/pair.h"
#include "test/sim/run.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;

class StalledCore : public testing::Test {
 protected:
  static constexpr uint8_t kTimeout = 8;  // 1.05 ms
  static constexpr Duration kAckTimeout{4096 << kTimeout};

  StalledCore() {
    pair_.world.run_until(pair_.world.now() + Duration(5'000'000'000));  // announcements are over
    pair_.world.log_to(&log_);
  }
  bool logged(const std::string& words) const { return log_.find(words) != std::string::npos; }
  void run_for(Duration time) { pair_.world.run_until(pair_.world.now() + time); }
  // Status of each completion that has come at the posting end.
  std::vector<ib_wc_status> poll() {
    std::vector<ib_wc_status> all;
    ib_wc wc;
    while (ib_poll_cq(pair_.a.cq, 1, &wc) == 1) all.push_back(wc.status);
    return all;
  }
  static const transport::TransportCounters& counters(Host& host) {
    return host.engine().counters();
  }

  Pair pair_{kTimeout};
  std::string log_;
};

TEST_F(StalledCore, AnAckThatWaitsAtThePortIsSeenBeforeTheTimerThatWaitsForIt) {
  pair_.post_write(64);
  pair_.world.stall(pair_.left, 3 * kAckTimeout);
  run_for(microseconds(20));
  EXPECT_EQ(poll().size(), 0u) << "nobody polled the port";
  run_for(4 * kAckTimeout);
  EXPECT_EQ(poll(), std::vector{IB_WC_SUCCESS});
  EXPECT_EQ(counters(pair_.left).local_ack_timeout_err.value(), 0u);
  EXPECT_EQ(counters(pair_.left).retransmitted_packets.value(), 0u);
  EXPECT_EQ(counters(pair_.left).clock_gaps.value(), 1u);
  EXPECT_TRUE(logged("host1 stalls for 3145728"));
  EXPECT_TRUE(logged("host1 goes on after a stall of 3145728: 1 frames wait, 0 fell off its port"));
}

TEST_F(StalledCore, ATimerThatIsDueInTheStallWaitsForItsAnswerAGapLonger) {
  pair_.world.faults.loss = 1;  // no answer will ever wait
  pair_.post_write(64);
  pair_.world.faults.loss = 0;
  pair_.world.stall(pair_.left, kAckTimeout / 2);
  run_for(kAckTimeout + kAckTimeout / 4);
  EXPECT_EQ(counters(pair_.left).local_ack_timeout_err.value(), 0u) << "the gap was not given back";
  run_for(kAckTimeout / 2);
  EXPECT_EQ(counters(pair_.left).local_ack_timeout_err.value(), 1u);
  EXPECT_EQ(poll(), std::vector{IB_WC_SUCCESS});
}

TEST_F(StalledCore, APeerThatStallsGetsWhatItsPortCouldHoldAndTheRestAgain) {
  pair_.world.faults.port_frames = 8;
  pair_.world.stall(pair_.right, microseconds(900));
  pair_.post_write(0x4000);  // 16 packets of 1024
  run_for(microseconds(899));
  EXPECT_EQ(pair_.world.counters().port_drops, 8u);
  EXPECT_EQ(pair_.b.memory[0x8000], 0xEE) << "the stalled host has worked";
  run_for(10 * kAckTimeout);
  EXPECT_EQ(poll(), std::vector{IB_WC_SUCCESS});
  EXPECT_GE(counters(pair_.left).retransmitted_packets.value(), 8u);
  EXPECT_TRUE(logged("host2 goes on after a stall of 900000: 8 frames wait, 8 fell off its port"));
}

TEST_F(StalledCore, APeerThatIsGoneForLongerThanAllRetriesCostsTheConnection) {
  pair_.world.stall(pair_.right, 12 * kAckTimeout);
  pair_.post_write(64);
  run_for(20 * kAckTimeout);
  EXPECT_EQ(poll(), std::vector{IB_WC_RETRY_EXC_ERR});
}

TEST(RandomRuns, HaveStalledHostsAmongTheirFaultsAndTheLogNamesEach) {
  uint64_t stalls = 0;
  uint64_t named = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    std::string log;
    RunOptions options;
    options.log = &log;
    const RunResult run = run_seed(seed, options);
    EXPECT_EQ(run.failure, "");
    stalls += run.wire.stalls;
    for (size_t at = 0; (at = log.find(" stalls for ", at)) != std::string::npos; ++at) ++named;
  }
  EXPECT_GT(stalls, 0u);
  EXPECT_EQ(named, stalls);
}

}  // namespace
}  // namespace uroce::sim
