// SPDX-License-Identifier: BSD-3-Clause
// The one line that a connection leaves in the log when it gives up.
#ifndef UROCE_DEVICE_FAILURE_LOG_H
#define UROCE_DEVICE_FAILURE_LOG_H

#include <mutex>
#include <string>

#include "transport/event.h"

namespace uroce::device {

// One sentence: who, to whom, which PSN, what ran out, what to look at.
std::string gave_up_sentence(const transport::GaveUp& note);

// Writes the sentences as warnings, at most kBurst within kWindow: a peer that dies may take
// thousands of connections with it. The last one that still goes out says so; the counters
// retry_exceeded_err and rnr_nak_retry_err have them all. Any thread, outside every loop turn.
class FailureLog {
 public:
  static constexpr uint32_t kBurst = 16;
  static constexpr Duration kWindow{1'000'000'000};

  // The process's.
  static FailureLog& instance();

  void write(const transport::GaveUp& note);

 private:
  std::mutex lock_;
  Time window_start_{};
  uint32_t written_ = 0;  // within the window
  bool started_ = false;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_FAILURE_LOG_H
