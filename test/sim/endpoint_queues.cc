// SPDX-License-Identifier: BSD-3-Clause
// An endpoint changes its completion queues under load, and receives out of a shared receive queue.
//
// Checker "srq": a limit event comes once for each arming, at the latest when a receive that was
// posted after the arming is taken and leaves fewer than the limit.
#include <cerrno>

#include "test/sim/endpoint.h"
#include "test/sim/must.h"

namespace uroce::sim {

void Endpoint::resize_cq(const Operation& drawn) {
  const uint32_t depth = drawn.signaled ? plan_.recv_depth : plan_.send_depth;
  WatchedCq& cq = drawn.signaled ? *recv_cq_ : *send_cq_;
  cq.resize(2 * depth + drawn.length % (4 * depth));
}

void Endpoint::moderate(const Operation& drawn, Duration period) {
  WatchedCq& cq = drawn.signaled ? *recv_cq_ : *send_cq_;
  cq.moderate(world_.now(), static_cast<uint16_t>(drawn.length % 5),
              static_cast<uint16_t>(period.count() / 1000));
}

// The one before was of the last life, with what was posted there.
void Endpoint::create_srq() {
  if (srq_ != nullptr) must(ib_destroy_srq(srq_), "ib_destroy_srq");
  ib_srq_init_attr init{};
  init.event_handler = [](ib_event* event, void* self) {
    if (event->event == IB_EVENT_SRQ_LIMIT_REACHED) {
      static_cast<Endpoint*>(self)->take_limit_event();
    }
  };
  init.srq_context = this;
  init.attr = {plan_.recv_depth, plan_.sge_max, 0};
  if (xrcd_ != nullptr) {
    init.srq_type = IB_SRQT_XRC;
    init.ext.cq = recv_cq_->cq();
    init.ext.xrc.xrcd = xrcd_;
  }
  srq_ = must(ib_create_srq(pd_, &init), "ib_create_srq");
  srq_limit_ = 0;
}

int Endpoint::post_recv(const ib_recv_wr& wr) {
  return srq_ != nullptr ? ib_post_srq_recv(srq_, &wr, nullptr) : ib_post_recv(qp_, &wr, nullptr);
}

void Endpoint::resize_srq(uint32_t drawn) {
  if (srq_ == nullptr) return;
  ib_srq_attr attr{};
  attr.max_wr = plan_.recv_depth + drawn % (2 * plan_.recv_depth);
  const int result = ib_modify_srq(srq_, &attr, IB_SRQ_MAX_WR);
  // Resized again and again before the first ring was used up.
  if (result != -ENOMEM) must(result, "ib_modify_srq");
}

void Endpoint::arm_srq(uint32_t drawn) {
  if (srq_ == nullptr || srq_limit_ != 0) return;
  ib_srq_attr attr{};
  attr.srq_limit = 1 + drawn % plan_.recv_depth;
  must(ib_modify_srq(srq_, &attr, IB_SRQ_LIMIT), "ib_modify_srq");
  srq_limit_ = attr.srq_limit;
  posted_at_arming_ = recvs_.taken() + recvs_.outstanding();
}

void Endpoint::take_limit_event() {
  if (srq_limit_ == 0) verdict_.fail("srq", "a limit event that nobody has armed");
  srq_limit_ = 0;
  tally_.did(Deed::kLimitEvent);
}

void Endpoint::check_limit_event(uint64_t taken_id) {
  if (srq_limit_ == 0 || taken_id < posted_at_arming_) return;
  if (recvs_.outstanding() < srq_limit_) {
    verdict_.fail("srq", "fewer receives than the limit are left and no event has come");
  }
}

}  // namespace uroce::sim
