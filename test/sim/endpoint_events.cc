// SPDX-License-Identifier: BSD-3-Clause
// An endpoint takes the events of its queue pair, and does what brings them about.
//
// Checker "events": COMM_EST comes once, with the first packet in RTR, and never in another state;
// SQ_DRAINED comes once for each SQD that asks for it, when what was begun is complete;
// LAST_WQE_REACHED comes once to a queue pair with a shared receive queue that is in error.
#include "test/sim/endpoint.h"
#include "test/sim/must.h"

namespace uroce::sim {
namespace {

constexpr const char* kName = "events";

}  // namespace

void Endpoint::take_event(const ib_event& event) {
  if (event.event == IB_EVENT_COMM_EST) {
    if (heard_) verdict_.fail(kName, host_.name() + ": COMM_EST twice");
    if (!rises_) verdict_.fail(kName, host_.name() + ": COMM_EST in another state than RTR");
    heard_ = true;
    tally_.did(Deed::kCommEst);
  } else if (event.event == IB_EVENT_SQ_DRAINED) {
    if (!awaits_drained_) verdict_.fail(kName, host_.name() + ": SQ_DRAINED that nobody awaits");
    awaits_drained_ = false;
    tally_.did(Deed::kSqDrained);
  } else if (event.event == IB_EVENT_QP_LAST_WQE_REACHED) {
    if (qp_->srq == nullptr) verdict_.fail(kName, host_.name() + ": LAST_WQE_REACHED without SRQ");
    if (++last_wqes_ > 1) verdict_.fail(kName, host_.name() + ": LAST_WQE_REACHED twice");
    tally_.did(Deed::kLastWqe);
  }
}

// A request of the peer has been carried out.
void Endpoint::check_heard() {
  if (rises_ && !heard_) {
    verdict_.fail(kName, host_.name() + ": a request was taken in RTR, and no COMM_EST has come");
  }
}

void Endpoint::drain(Duration span, bool notify) {
  if (resume_at_ != kNever) return;
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_SQD;
  attr.en_sqd_async_notify = notify ? 1 : 0;
  // It may have failed already, or be in RTR.
  if (ib_modify_qp(qp_, &attr, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY) != 0) return;
  resume_at_ = world_.now() + span;
  awaits_drained_ = notify;
  posted_at_drain_ = next_id_;
}

void Endpoint::resume() {
  host_.pump();  // its events are taken
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RTS;
  const int result = ib_modify_qp(qp_, &attr, IB_QP_STATE);
  if (result == 0) return check_drained();
  if (host_.engine().qp(Qpn(qp_->qp_num))->state != transport::QpState::kErr) {
    must(result, "from SQD to RTS");
  }
}

// SQD is over.
void Endpoint::check_drained() {
  const bool complete = ledger_.empty() || ledger_.outstanding().front().id >= posted_at_drain_;
  if (awaits_drained_ && complete) {
    verdict_.fail(kName, host_.name() + ": all work was complete in SQD, and no SQ_DRAINED came");
  }
  awaits_drained_ = false;
}

// A life ends in ERR.
void Endpoint::check_last_wqe() {
  host_.pump();
  if (qp_->srq != nullptr && last_wqes_ == 0) {
    verdict_.fail(kName, host_.name() + ": in error, and no LAST_WQE_REACHED has come");
  }
}

}  // namespace uroce::sim
