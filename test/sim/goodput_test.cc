// SPDX-License-Identifier: BSD-3-Clause
// Tests of what loss may cost: against the promise, against plain go-back-N, and the committed
// table.
#include "test/sim/goodput.h"

#include <gtest/gtest.h>

namespace uroce::sim {
namespace {

GoodputCase at(Parties parties, uint32_t loss_ppm, int64_t round_trip_us) {
  GoodputCase c;
  c.parties = parties;
  c.loss_ppm = loss_ppm;
  c.round_trip = std::chrono::microseconds(round_trip_us);
  return c;
}

// What two ends that are both ours keep of their lossless goodput at 1 %, messages of 1 MiB.
double share_at_one_per_cent(int64_t round_trip_us) {
  const Goodput lossless = measure_goodput(at(Parties::kBothUroce, 0, round_trip_us));
  const Goodput lossy = measure_goodput(at(Parties::kBothUroce, 10'000, round_trip_us));
  EXPECT_EQ(lossless.failure, "");
  EXPECT_EQ(lossy.failure, "");
  EXPECT_EQ(lossless.sent_again, 0u);
  EXPECT_EQ(lossless.probes, 0u);
  EXPECT_EQ(lossy.timeouts, 0u);
  return lossy.gbit_per_s / lossless.gbit_per_s;
}

TEST(Goodput, OnePerCentOfLossCostsLittle) {
  EXPECT_GE(share_at_one_per_cent(10), 0.80);
  EXPECT_GE(share_at_one_per_cent(100), 0.60);
}

// Packet for packet: a strict peer cannot tell the two requesters apart.
TEST(Goodput, ToAStrictPeerSelectiveRepeatIsGoBackN) {
  for (const int64_t round_trip_us : {10, 100}) {
    for (const uint32_t loss_ppm : {1'000u, 10'000u, 30'000u}) {
      GoodputCase c = at(Parties::kStrictPeer, loss_ppm, round_trip_us);
      c.total_bytes = 8u << 20;
      const Goodput selective = measure_goodput(c);
      c.parties = Parties::kProbingPlain;
      const Goodput plain = measure_goodput(c);
      EXPECT_EQ(selective.failure, "");
      EXPECT_EQ(selective.frames_sent, plain.frames_sent) << loss_ppm << ' ' << round_trip_us;
      EXPECT_EQ(selective.elapsed, plain.elapsed) << loss_ppm << ' ' << round_trip_us;
    }
  }
}

TEST(Goodput, ToAStrictPeerItIsNeverWorseThanPlainGoBackN) {
  for (const int64_t round_trip_us : {10, 100}) {
    GoodputCase c = at(Parties::kStrictPeer, 10'000, round_trip_us);
    const Goodput ours = measure_goodput(c);
    c.parties = Parties::kPlainGoBackN;
    EXPECT_GE(ours.gbit_per_s, measure_goodput(c).gbit_per_s) << round_trip_us;
  }
}

// Another path, or a flow that has come: nothing is lost, and after a moment nothing is sent again.
TEST(Goodput, ARoundTripThatGrowsCostsAMomentOnly) {
  for (const Parties parties : {Parties::kBothUroce, Parties::kStrictPeer}) {
    for (const int64_t longer_us : {30, 40, 100, 1000}) {
      GoodputCase c = at(parties, 0, 10);
      c.message_bytes = 64 << 10;
      c.total_bytes = 128 << 20;
      c.longer_round_trip = std::chrono::microseconds(longer_us);
      const Goodput ours = measure_goodput(c);
      c.parties = Parties::kPlainGoBackN;
      const Goodput plain = measure_goodput(c);
      EXPECT_EQ(ours.failure, "");
      EXPECT_GE(ours.gbit_per_s, 0.94 * plain.gbit_per_s) << longer_us;
      EXPECT_LT(ours.sent_again, ours.frames_sent / 20) << longer_us;
    }
  }
}

TEST(Goodput, ACaseHasOneResult) {
  const GoodputCase c = at(Parties::kBothUroce, 30'000, 10);
  EXPECT_EQ(measure_goodput(c).elapsed, measure_goodput(c).elapsed);
}

}  // namespace
}  // namespace uroce::sim
