// SPDX-License-Identifier: BSD-3-Clause
// For tests of retries and waits: a requester whose time moves from deadline to deadline.
#ifndef UROCE_TRANSPORT_RETRY_FIXTURE_H
#define UROCE_TRANSPORT_RETRY_FIXTURE_H

#include "transport/qp_fixture.h"
#include "transport/retry.h"

namespace uroce::transport {

// A peer that is silent, or answers only what a test says; time moves from deadline to deadline.
class RetryFixture : public QpFixture {
 protected:
  RetryFixture() {
    qp->attributes.timeout = 12;
    qp->attributes.retry_count = qp->req.retry_left = 3;
  }
  Duration timeout() const { return ack_timeout(qp->attributes.timeout); }
  void post(uint64_t wr_id, uint32_t length = 8) {
    post_send({.sges = {sge(0, length)}, .wr_id = wr_id});
  }
  void nak(Psn psn, uint8_t syndrome) {
    response({.opcode = wire::Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, 0}});
  }
  void rnr(Psn psn, uint8_t code) { nak(psn, wire::Aeth::rnr_nak(code)); }
  void ack(Psn psn) { nak(psn, wire::Aeth::kAckNoCredits); }
  // Moves on to the next deadline; false if there is none.
  bool to_deadline() {
    const Time deadline = next_deadline(*qp);
    if (deadline == kNever) return false;
    env.now = deadline;
    handle_deadline(*qp, env);
    return true;
  }
  std::vector<GaveUp> gave_up() {
    std::vector<GaveUp> notes;
    Event event{};
    while (env.events.take(event)) {
      if (event.type == EventType::kGaveUp) notes.push_back(event.gave_up);
    }
    return notes;
  }
  void expect_failed(WcStatus status, size_t flushed) {
    const std::vector<Cqe> cqes = send_completions();
    ASSERT_EQ(cqes.size(), 1 + flushed);
    EXPECT_EQ(cqes[0].status, status);
    for (size_t i = 1; i < cqes.size(); ++i) {
      EXPECT_EQ(cqes[i].status, WcStatus::kWrFlushErr);
      EXPECT_EQ(cqes[i].wr_id, cqes[0].wr_id + i);
    }
    EXPECT_EQ(qp->state, QpState::kErr);
    EXPECT_EQ(next_deadline(*qp), kNever);
    EXPECT_TRUE(requests().empty());
  }
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_RETRY_FIXTURE_H
