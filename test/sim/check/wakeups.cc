// SPDX-License-Identifier: BSD-3-Clause
// Arming, being woken, polling, and looking all the same.
#include "test/sim/check/wakeups.h"

#include <utility>

#include "test/sim/host.h"
#include "test/sim/must.h"

namespace uroce::sim {
namespace {

constexpr const char* kName = "wakeups";

}  // namespace

WatchedCq::WatchedCq(Host& host, uint32_t entries, Wake wake) : wake_(wake) {
  ib_cq_init_attr attr{};
  attr.cqe = entries;
  const auto woken = [](ib_cq*, void* self) { static_cast<WatchedCq*>(self)->notified_ = true; };
  cq_ = must(ib_create_cq(host.device(), woken, nullptr, this, &attr), "ib_create_cq");
}

WatchedCq::~WatchedCq() { ib_destroy_cq(cq_); }

void WatchedCq::forget() {
  armed_ = notified_ = false;
  forgiven_ = true;
}

void WatchedCq::resize(uint32_t entries) {
  must(ib_resize_cq(cq_, static_cast<int>(entries)), "ib_resize_cq");
}

void WatchedCq::moderate(Time now, uint16_t count, uint16_t period_us) {
  must(rdma_set_cq_moderation(cq_, count, period_us), "rdma_set_cq_moderation");
  moderated_ = period_us != 0;
  // A wake-up that the old period holds back is on its way.
  next_sweep_ = now + kSweep;
  forgiven_ = true;
}

// True: something among them was worth a wake-up.
bool WatchedCq::poll(const Taker& take, Verdict& verdict, size_t& count) {
  bool worth = false;
  ib_wc wc;
  while (verdict.good() && ib_poll_cq(cq_, 1, &wc) == 1) {
    worth = take(wc) || worth;
    ++count;
  }
  return worth;
}

void WatchedCq::sweep(const Taker& take, Verdict& verdict) {
  size_t count = 0;
  const bool worth = poll(take, verdict, count);
  if (!moderated_ && (wake_ == Wake::kNotified ? count != 0 : worth)) {
    verdict.fail(kName, "a completion lies in an armed queue and nobody was woken");
  }
}

void WatchedCq::serve(Time now, bool regardless, const Taker& take, Verdict& verdict) {
  size_t count = 0;
  if (wake_ == Wake::kPolls || regardless) {
    forget();
    poll(take, verdict, count);
    return;
  }
  if (armed_ && !notified_) {
    if (now < next_sweep_) return;
    next_sweep_ = now + kSweep;
    // A wake-up that is held back, rightly or for ever: the latter stops all work ("liveness").
    if (moderated_ && wake_ == Wake::kNotified) return;
    return sweep(take, verdict);
  }
  const auto flags = wake_ == Wake::kNotified ? IB_CQ_NEXT_COMP : IB_CQ_SOLICITED;
  const bool woken = notified_;
  notified_ = false;
  bool worth = poll(take, verdict, count);
  while (verdict.good() && ib_req_notify_cq(cq_, static_cast<ib_cq_notify_flags>(
                                                     flags | IB_CQ_REPORT_MISSED_EVENTS)) == 1) {
    worth = poll(take, verdict, count) || worth;
  }
  armed_ = true;
  const bool for_nothing = woken && (wake_ == Wake::kNotified ? count == 0 : !worth);
  if (for_nothing && !moderated_ && !std::exchange(forgiven_, false)) {
    verdict.fail(kName, "somebody was woken for nothing");
  }
}

}  // namespace uroce::sim
