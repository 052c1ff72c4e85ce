// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's objects, their lives and their control calls.
#include "test/sim/endpoint.h"

#include <algorithm>
#include <cstring>

#include "test/sim/must.h"

namespace uroce::sim {
namespace {

uint8_t pattern(uint64_t seed, uint64_t at) {
  return static_cast<uint8_t>((seed * 0x9E3779B97F4A7C15u + at * 0xC2B2AE3D27D4EB4Fu) >> 56);
}

}  // namespace

Endpoint::Endpoint(World& world, Host& host, const ChannelPlan& plan, size_t side, uint64_t seed,
                   Verdict& verdict, Tally& tally)
    : world_(world),
      host_(host),
      plan_(plan),
      side_(side),
      verdict_(verdict),
      tally_(tally),
      carriage_(plan.type != IB_QPT_UC ? Carriage::kReliable
                : plan.tangles         ? Carriage::kTangles
                                       : Carriage::kLoses),
      incoming_(carriage_) {
  create_memory(seed);
  send_cq_ = std::make_unique<WatchedCq>(host, 2 * plan.send_depth, plan.send_wake);
  recv_cq_ = std::make_unique<WatchedCq>(host, 2 * plan.recv_depth, plan.recv_wake);
  pd_ = must(ib_alloc_pd(host.device(), 0), "ib_alloc_pd");
  local_mr_ = must(ib_reg_user_mr(pd_, reinterpret_cast<uint64_t>(memory_.data()) + kGuard,
                                  open_begin_ - 2 * kGuard, kIova + kGuard, IB_ACCESS_LOCAL_WRITE),
                   "ib_reg_user_mr");
  host_.note_key(local_mr_->lkey);
  register_open();
  create_lent_keys();
  if (plan.type == IB_QPT_XRC_INI) xrcd_ = must(ib_alloc_xrcd(host.device()), "ib_alloc_xrcd");
  create_qps();
}

Endpoint::~Endpoint() {
  destroy_qps();
  if (srq_ != nullptr) ib_destroy_srq(srq_);
  if (xrcd_ != nullptr) ib_dealloc_xrcd(xrcd_);
  destroy_lent_keys();
  if (parent_mr_ != nullptr) ib_dereg_mr(parent_mr_);
  ib_dereg_mr(open_mr_);
  ib_dereg_mr(local_mr_);
  send_cq_.reset();
  recv_cq_.reset();
  ib_dealloc_pd(pd_);
}

void Endpoint::create_memory(uint64_t seed) {
  send_area_ = kGuard;
  recv_area_ = send_area_ + (plan_.send_depth + 2) * stride();
  sink_area_ = recv_area_ + plan_.recv_depth * stride();
  open_begin_ = sink_area_ + (plan_.send_depth + 2) * stride() + kGuard;
  read_area_ = open_begin_ + kSpread + stride();
  word_area_ = (read_area_ + kSpread + stride() + kWordBytes - 1) / kWordBytes * kWordBytes;
  open_end_ = word_area_ + kWords * kWordBytes;
  lent_begin_ = open_end_ + kGuard;
  const uint32_t lent_bytes = plan_.lends ? kLenders * 2 * lent_half() + kGuard : 0;
  memory_.assign(lent_begin_ + lent_bytes, 0xEE);
  for (uint32_t i = read_area_; i < word_area_; ++i) memory_[i] = pattern(seed, i);
  for (uint32_t i = lent_begin_; i + kGuard < memory_.size(); ++i) memory_[i] = pattern(seed, i);
  shadow_ = std::make_unique<Shadow>(memory_);
  resync_words();
}

// What the last life has left in them is what the next one begins with.
void Endpoint::resync_words() {
  std::memcpy(words_.data(), memory_.data() + word_area_, sizeof words_);
}

void Endpoint::register_open() {
  open_mr_ =
      must(ib_reg_user_mr(pd_, reinterpret_cast<uint64_t>(memory_.data()) + open_begin_,
                          open_end_ - open_begin_, kIova + open_begin_,
                          IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
                              IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_FLUSH_GLOBAL),
           "ib_reg_user_mr");
  host_.note_key(open_mr_->lkey);
}

void Endpoint::query() {
  query(qp_);
  if (target_ != nullptr) query(target_);
}

void Endpoint::query(ib_qp* qp) {
  ib_qp_attr attr;
  ib_qp_init_attr init;
  must(ib_query_qp(qp, &attr, 0, &init), "ib_query_qp");
  const bool rises = rises_ && qp == qp_;
  const bool alive = rises ? attr.qp_state == IB_QPS_RTR
                           : attr.qp_state == IB_QPS_RTS || attr.qp_state == IB_QPS_SQD;
  if (!alive && attr.qp_state != IB_QPS_ERR) {
    verdict_.fail("queries", "a connected queue pair is in state " + std::to_string(attr.qp_state));
  }
  const bool asks = reliable() && qp != target_ && !rises;
  const bool as_set = attr.timeout == plan_.timeout && attr.retry_cnt == plan_.retry_cnt &&
                      attr.rnr_retry == plan_.rnr_retry && attr.max_rd_atomic == plan_.rd_atomic;
  if (attr.path_mtu != plan_.mtu || (asks && !as_set) || attr.dest_qp_num > 0xFFFFFF) {
    verdict_.fail("queries", "an attribute is not what was set");
  }
}

void Endpoint::reregister() {
  retired_key_ = open_mr_->rkey;
  refuses_ = true;
  must(ib_dereg_mr(open_mr_), "ib_dereg_mr");
  register_open();
}

bool Endpoint::drained() const {
  if (host_.stalled()) return false;  // the application has no core to poll what is there
  const transport::SendQueue& queue = host_.engine().qp(Qpn(qp_->qp_num))->queues->send;
  // What a shared receive queue still holds will not complete; what was taken from it is polled.
  const bool received = plan_.srq || recvs_.outstanding() == 0;
  return !waits() && received && queue.consumer.load() == queue.producer.load();
}

std::string Endpoint::outstanding() const {
  std::string text = host_.name() + " " + std::to_string(ledger_.size()) + " sends";
  if (!ledger_.empty()) text += " from " + std::to_string(ledger_.outstanding().front().id);
  return text + " and " + std::to_string(recvs_.outstanding()) + " receives";
}

void Endpoint::to_error() {
  closing_ = true;
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_ERR;
  must(ib_modify_qp(qp_, &attr, IB_QP_STATE), "to ERR");
  if (target_ != nullptr) must(ib_modify_qp(target_, &attr, IB_QP_STATE), "to ERR");
}

void Endpoint::fill(uint32_t offset, uint32_t length, uint8_t value) {
  std::fill_n(memory_.begin() + offset, length, value);
  shadow_->set_from_memory(offset, length);
}

void Endpoint::forget_receives() {
  recvs_.reset();
  fill(recv_area_, plan_.recv_depth * stride(), 0xEE);
}

// What was posted, and what was expected, is of the life that has ended; so are the lent keys, for
// nobody knows which of the requests that were flushed would have changed them.
void Endpoint::forget_life() {
  destroy_lent_keys();
  create_lent_keys();
  shadow_->settle();
  resync_words();
  forget_receives();
  send_cq_->forget();
  recv_cq_->forget();
  ledger_.reset();
  incoming_.reset();
  timers_.reset();
  silent_run_ = 0;
  broken_ = recv_flushed_ = closing_ = recv_doubted_ = refuses_ = false;
  resume_at_ = kNever;
  awaits_drained_ = rises_ = false;
}

void Endpoint::end_life(bool new_qp) {
  connected_ = false;
  check_last_wqe();
  if (recv_flushed_ && !broken_ && !peer_offended() && !orphaned_) {
    verdict_.fail("completions", "receives were flushed for no reason");
  }
  if (reliable()) incoming_.check_end(verdict_);
  compare_memory();
  forget_life();
  if (new_qp) {
    must(destroy_qps(), "ib_destroy_qp");
    create_qps();
    return;
  }
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RESET;
  must(ib_modify_qp(qp_, &attr, IB_QP_STATE), "to RESET");
}

void Endpoint::destroy_and_create() {
  connected_ = false;
  must(destroy_qps(), "ib_destroy_qp");
  compare_abandoned();
  forget_life();
  create_qps();
}

// Messages that had come and were not polled, or were under way, lie in the receive buffers.
void Endpoint::compare_abandoned() {
  shadow_->doubt(recv_area_, plan_.recv_depth * stride());
  compare_memory();
}

void Endpoint::look_at_timers() {
  if (peer_ != nullptr) timers_.look(world_, host_, peer_->host_, qp_->qp_num, verdict_);
}

void Endpoint::compare_memory() {
  const std::string difference = shadow_->compare();
  if (!difference.empty()) verdict_.fail("memory", host_.name() + ": " + difference);
}

}  // namespace uroce::sim
