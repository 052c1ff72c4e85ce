// SPDX-License-Identifier: BSD-3-Clause
// The one line that is left in the log by a connection that gives up, or by a destination that
// cannot be reached.
#ifndef UROCE_DEVICE_FAILURE_LOG_H
#define UROCE_DEVICE_FAILURE_LOG_H

#include <cstdint>
#include <mutex>
#include <string>

#include "base/types.h"
#include "transport/event.h"

namespace uroce::device {

// One sentence: who, to whom, which PSN, what ran out, what to look at.
std::string gave_up_sentence(const transport::GaveUp& note);

// A destination whose MAC address could not be found, and the entry of the GID table it was wanted
// for.
struct Unreachable {
  std::string port;
  Gid destination;
  Gid source;
  uint32_t sgid_index = 0;
  int error = 0;  // -ETIMEDOUT: nobody has answered; else there is no route
};

// One sentence: which address, from where, why, what to look at.
std::string unreachable_sentence(const Unreachable& note);

// Writes the sentences as warnings, at most kBurst within kWindow: a peer that dies may take
// thousands of connections with it. The last one that still goes out says so; the counters
// retry_exceeded_err and rnr_nak_retry_err have all that gave up, and who asks for an address
// handle or a transition gets the error. Any thread, outside every loop turn.
class FailureLog {
 public:
  static constexpr uint32_t kBurst = 16;
  static constexpr Duration kWindow{1'000'000'000};

  // The process's.
  static FailureLog& instance();

  void write(const transport::GaveUp& note);
  void write(Time when, const Unreachable& note);

 private:
  void write(Time when, std::string sentence);

  std::mutex lock_;
  Time window_start_{};
  uint32_t written_ = 0;  // within the window
  bool started_ = false;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_FAILURE_LOG_H
