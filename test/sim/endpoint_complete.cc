// SPDX-License-Identifier: BSD-3-Clause
// An endpoint takes its completions and hands each to the checkers.
#include <algorithm>

#include "test/sim/check/retries.h"
#include "test/sim/check/wire_rules.h"
#include "test/sim/endpoint.h"

namespace uroce::sim {

void Endpoint::serve() {
  if (host_.stalled()) return;  // the application has no core either
  if (world_.now() >= resume_at_) {
    resume_at_ = kNever;
    resume();
  }
  if (rises_ && heard_ && !closing_) rise();
  const bool all = closing_;
  send_cq_->serve(
      world_.now(), all, [this](const ib_wc& wc) { return take_send(wc); }, verdict_);
  recv_cq_->serve(
      world_.now(), all, [this](const ib_wc& wc) { return take_recv(wc); }, verdict_);
  if (connected_ && !closing_ && !broken() && world_.now() >= starved_until_) post_recvs();
}

void Endpoint::check_memory(uint32_t offset, uint32_t length, const char* what) {
  const std::string difference = shadow_->compare(offset, length);
  if (!difference.empty()) verdict_.fail("memory", std::string(what) + ": " + difference);
}

bool Endpoint::take_send(const ib_wc& wc) {
  world_.log(host_.name() + " completes " + std::to_string(wc.wr_id) + " opcode " +
             std::to_string(wc.opcode) + " status " + std::to_string(wc.status));
  const std::vector<Sent> ended = ledger_.take(wc, verdict_);
  if (!verdict_.good()) return true;
  for (size_t i = 0; i < ended.size(); ++i) {
    if (i + 1 == ended.size() && wc.status != IB_WC_SUCCESS) {
      fail_request(ended[i], wc.status);
    } else {
      succeed(ended[i]);
    }
  }
  if (peer_ != nullptr) faults_at_progress_ = faults_so_far();
  return true;
}

void Endpoint::succeed(const Sent& sent) {
  ++done_;
  if (reliable() && sent.kind->ends_with != IB_WC_SUCCESS) {
    verdict_.fail("completions", std::string(sent.kind->name) + " succeeds");
  }
  if (fetches(sent.kind->effect)) {
    shadow_->set(sent.slot, placed(sent.slot, stride(), sent.list, sent.bytes));
    check_memory(sent.slot, stride(), sent.kind->name);
  }
  if (is_local(*sent.kind)) end_key_change(sent);
  if (peer_ == nullptr || !reliable()) return;
  if (!is_local(*sent.kind)) peer_->check_heard();
  peer_->incoming_.confirmed(sent);
  peer_->shadow_->confirm(sent.announced);
  if (sent.remote_bytes != 0) {
    peer_->check_memory(sent.remote, sent.remote_bytes, "where an acknowledged WRITE went");
  }
}

bool Endpoint::peer_is_dead() const {
  if (peer_ == nullptr || peer_->closing_ || peer_->broken()) return true;
  const transport::QpContext* qp = peer_->host_.engine().qp(Qpn(peer_->receiver()->qp_num));
  return qp == nullptr || qp->state == transport::QpState::kErr;
}

void Endpoint::fail_request(const Sent& sent, ib_wc_status status) {
  const bool first = !broken_;
  broken_ = true;
  if (status == IB_WC_WR_FLUSH_ERR) {
    if (!first || closing_ || peer_offended()) return;
    verdict_.fail("completions", std::string(sent.kind->name) + " is flushed for no reason");
  } else if (was_caught(sent, status)) {
    tally_.did(Deed::kCaughtAccess);
  } else if (status == IB_WC_RETRY_EXC_ERR) {
    if (peer_is_dead()) return;
    const uint64_t faults =
        world_.faults_between(world_.index_of(host_), world_.index_of(peer_->host_));
    tally_.did(Deed::kRetriesRanOut);
    check_give_up(faults - faults_at_progress_, faults - faults_at_start_, plan_.retry_cnt,
                  verdict_);
  } else if (status == IB_WC_RNR_RETRY_EXC_ERR && world_.rules != nullptr) {
    tally_.did(Deed::kRnrRetriesRanOut);
    check_refused(world_.rules->refusals({host_.number(), qp_->qp_num}), plan_.rnr_retry, verdict_);
  } else if (status != sent.kind->ends_with) {
    verdict_.fail("completions",
                  std::string(sent.kind->name) + " ends with " + ib_wc_status_msg(status));
  }
}

bool Endpoint::take_recv(const ib_wc& wc) {
  world_.log(host_.name() + " receives " + std::to_string(wc.wr_id) + " opcode " +
             std::to_string(wc.opcode) + " status " + std::to_string(wc.status));
  recvs_.take(wc, verdict_);
  if (!verdict_.good()) return true;
  if (plan_.srq) check_limit_event(wc.wr_id);
  if (wc.status == IB_WC_SUCCESS) {
    check_heard();
    const auto held = [&](const Sent& due) { return holds(wc, due); };
    const std::optional<Sent> message = incoming_.received(wc, held, verdict_);
    if (!message) return true;
    reliable() ? take_message(wc, *message) : take_unreliable(wc, *message);
    return message->solicited;
  }
  if (wc.status != IB_WC_WR_FLUSH_ERR && !may_fail_receive(wc.status)) {
    verdict_.fail("completions", std::string("a receive ends with ") + ib_wc_status_msg(wc.status));
  }
  // Only the first that is flushed may have been in use.
  if (!recv_doubted_) shadow_->doubt(recv_slot(wc.wr_id), stride());
  recv_doubted_ = true;
  recv_flushed_ = recv_flushed_ || !closing_;
  return true;
}

// Whether the buffer of the receive has the bytes of a message, as far as it is one for a buffer.
bool Endpoint::holds(const ib_wc& wc, const Sent& message) const {
  if (message.kind->effect != Effect::kMessage) return true;
  const std::vector<uint8_t> bytes = gather(recv_list(wc.wr_id));
  return std::equal(message.bytes.begin(), message.bytes.end(), bytes.begin());
}

// A message of UC. What was sent before it has come, in part perhaps, or is lost; unless the wire
// tangles: then anything may still come, and WRITEs are never certain.
void Endpoint::take_unreliable(const ib_wc& wc, const Sent& message) {
  const bool writes = message.remote_bytes != 0;
  if (carriage_ == Carriage::kLoses) {
    check_loss();
    const std::string difference = shadow_->give_up(message.announced - (writes ? 1 : 0));
    if (!difference.empty()) verdict_.fail("memory", "behind a message of UC: " + difference);
    if (writes) shadow_->confirm(message.announced);
  }
  if (writes) check_memory(message.remote, message.length, "where a WRITE with immediate went");
  const uint32_t slot = recv_slot(wc.wr_id);
  check_memory(slot + plan_.message_bytes_max, kSlotGuard, "behind a receive buffer");
  fill(slot, stride(), 0xEE);
}

// A message vanishes by a fault of the wire, or because the receiver had no buffer or no such key.
void Endpoint::check_loss() {
  if (incoming_.lost() == 0 || refuses_ || peer_ == nullptr) return;
  const uint64_t faults =
      world_.faults_between(world_.index_of(host_), world_.index_of(peer_->host_));
  const transport::QpContext* qp = host_.engine().qp(Qpn(qp_->qp_num));
  if (faults != faults_at_start_ || qp == nullptr || qp->recv_queue_empty.value() != 0) return;
  verdict_.fail("order", "a message of UC is lost and nothing has gone wrong");
}

void Endpoint::take_message(const ib_wc& wc, const Sent& message) {
  shadow_->confirm(message.announced);
  const uint32_t slot = recv_slot(wc.wr_id);
  if (message.kind->effect == Effect::kMessage) {
    shadow_->set(slot, placed(slot, stride(), recv_list(wc.wr_id), message.bytes));
  } else {
    check_memory(message.remote, message.length, "where a WRITE with immediate went");
  }
  if (invalidates(*message.kind)) lent_keys_[*message.lender].closed();
  check_memory(slot, stride(), "a receive buffer");
  fill(slot, stride(), 0xEE);
}

}  // namespace uroce::sim
