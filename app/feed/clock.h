// SPDX-License-Identifier: BSD-3-Clause
// The one clock of the program: nanoseconds that do not go back, read without a system call.
#ifndef UROCE_APP_FEED_CLOCK_H
#define UROCE_APP_FEED_CLOCK_H

#include <chrono>
#include <cstdint>

namespace uroce::market {

inline uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(since).count());
}

inline constexpr uint64_t kSecondNs = 1'000'000'000;

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_CLOCK_H
