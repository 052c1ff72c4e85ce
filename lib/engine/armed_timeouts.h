// SPDX-License-Identifier: BSD-3-Clause
// How many queue pairs have a running ACK timer, by timeout code: so the shortest is known without
// a look at any of them.
#ifndef UROCE_ENGINE_ARMED_TIMEOUTS_H
#define UROCE_ENGINE_ARMED_TIMEOUTS_H

#include <array>
#include <bit>
#include <cstdint>

#include "transport/qp_context.h"
#include "transport/retry.h"

namespace uroce::engine {

class ArmedTimeouts {
 public:
  // Brings the count into line with the queue pair's timer.
  void update(transport::QpContext& qp) {
    count(qp, qp.req.ack_deadline != kNever ? qp.attributes.timeout : uint8_t{0});
  }
  void forget(transport::QpContext& qp) { count(qp, 0); }

  // The shortest ACK timeout of any running timer; Duration::max() when none runs.
  Duration shortest() const {
    if (used_ == 0) return Duration::max();
    return transport::ack_timeout(static_cast<uint8_t>(std::countr_zero(used_)));
  }

 private:
  // Code 0 is "wait for ever": it is never counted.
  void count(transport::QpContext& qp, uint8_t code) {
    if (qp.counted_timeout == code) return;
    if (qp.counted_timeout != 0 && --counts_[qp.counted_timeout] == 0) {
      used_ &= ~(1u << qp.counted_timeout);
    }
    if (code != 0 && counts_[code]++ == 0) used_ |= 1u << code;
    qp.counted_timeout = code;
  }

  uint32_t used_ = 0;
  std::array<uint32_t, 32> counts_{};
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_ARMED_TIMEOUTS_H
