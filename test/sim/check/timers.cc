// SPDX-License-Identifier: BSD-3-Clause
// Looks at a queue pair from inside, between two turns of its host's loop.
#include "test/sim/check/timers.h"

#include <algorithm>

#include "transport/retry.h"

namespace uroce::sim {
namespace {

constexpr const char* kName = "timers";
// The standard lets an ACK timer run for up to four times its value.
constexpr int64_t kToleranceOfTimeout = 4;
constexpr Duration kResolution{2'048};  // of the engine's timers

std::string who(Host& host, uint32_t qp_num) {
  char text[64];
  std::snprintf(text, sizeof text, "%s QP 0x%06x ", host.name().c_str(), qp_num);
  return text;
}

}  // namespace

void TimerCheck::look(World& world, Host& host, Host& peer, uint32_t qp_num, Verdict& verdict) {
  const transport::QpContext* qp = host.engine().qp(Qpn(qp_num));
  if (qp == nullptr || host.stalled() || host.paused() || host.engine().has_output(world.now())) {
    seen_ = false;
    return;
  }
  const bool waits =
      (qp->state == transport::QpState::kRts || qp->state == transport::QpState::kSqd) &&
      qp->req.outstanding() != 0 && qp->attributes.timeout != 0;
  const uint64_t rnr_naks = host.engine().counters().rnr_nak_received.value();
  const bool moved = !seen_ || unacked_ != qp->req.unacked_psn || rnr_naks != rnr_naks_;
  if (!waited_ || !waits || moved || peer.stalled() || peer.paused()) since_ = world.now();
  waited_ = waits;
  seen_ = true;
  unacked_ = qp->req.unacked_psn;
  rnr_naks_ = rnr_naks;
  if (!waits) return;
  const Time deadline = transport::next_deadline(*qp);
  if (deadline == kNever) {
    verdict.fail(kName, who(host, qp_num) + "has work outstanding and no deadline");
  } else if (host.engine().poll_timeout() > deadline + kResolution) {
    verdict.fail(kName, who(host, qp_num) + "has a deadline that its engine does not know");
  }
  const int64_t attempts = qp->attributes.retry_count + 1;
  const Duration most =
      transport::ack_timeout(qp->attributes.timeout) * attempts * kToleranceOfTimeout +
      transport::rnr_delay(0);
  if (world.now() - since_ > most) {
    verdict.fail(kName, who(host, qp_num) + "waits longer than its timeout and retries allow");
  }
}

}  // namespace uroce::sim
