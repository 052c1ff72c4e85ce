// SPDX-License-Identifier: BSD-3-Clause
// A handshake that takes long is let to its end; a server that comes back is soon found.
#include "nic/restart_pace.h"

#include <gtest/gtest.h>

namespace uroce::nic {
namespace {

using std::chrono::milliseconds;
using Time = RestartPace::Time;

constexpr milliseconds kLook{100};  // how often the control thread comes by

// Restarts until a handshake of that length has ended; `end`: when that was.
int restarts_until_met(RestartPace& pace, milliseconds handshake, Time& end) {
  int restarts = 0;
  Time begun = end;
  pace.started(begun);
  for (Time now = begun + kLook; now - begun < handshake && restarts < 100; now += kLook) {
    if (!pace.due(now)) continue;
    begun = now;
    pace.started(now);
    ++restarts;
  }
  end = begun + handshake;
  pace.connected();
  return restarts;
}

TEST(RestartPaceTest, TheFirstHandshakeHasItsTime) {
  RestartPace pace;
  Time now{};
  EXPECT_EQ(restarts_until_met(pace, milliseconds(400), now), 0);
}

TEST(RestartPaceTest, ASlowHandshakeComesToItsEnd) {
  RestartPace pace;
  Time now{};
  EXPECT_LE(restarts_until_met(pace, milliseconds(3'000), now), 3);
  EXPECT_LE(now, Time{} + milliseconds(7'000));
}

TEST(RestartPaceTest, PatienceEndsAndStartsAnewAfterAConnection) {
  RestartPace pace;
  Time now{};
  for (int i = 0; i < 20; ++i) {
    pace.started(now);
    now += RestartPace::kPatienceMax;
    EXPECT_TRUE(pace.due(now));
  }
  pace.connected();
  pace.started(now);
  EXPECT_TRUE(pace.due(now + RestartPace::kLookInterval));
}

TEST(RestartPaceTest, AServerThatIsNotThereIsLookedForWithoutLosingPatience) {
  RestartPace pace;
  Time now{};
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(pace.due(now));
    pace.looked(now);
    EXPECT_FALSE(pace.due(now + kLook));
    now += RestartPace::kLookInterval;
  }
  EXPECT_TRUE(pace.due(now));
}

}  // namespace
}  // namespace uroce::nic
