// SPDX-License-Identifier: BSD-3-Clause
// Setting the host up, its loop, and taking it down again.
#include "test/fuzz/engine/fuzz_host.h"

#include <algorithm>
#include <cstring>

#include "test/fuzz/engine/breach.h"
#include "test/sim/check/allocations.h"
#include "test/sim/check/counters.h"
#include "test/sim/check/leaks.h"
#include "test/sim/must.h"

namespace uroce::fuzz {
namespace {

using sim::must;

constexpr uint32_t kQueueDepth = 8;
// Each input has a host of its own, so it is to be made quickly; and a program can use all up.
constexpr sim::HostLimits kLimits{.mtu_bytes = 4500,  // more than a path MTU of 4096 needs
                                  .frames_per_poll = 8,
                                  .keys = 32,
                                  .queue_pairs = 16,
                                  .groups = 4,
                                  .memberships = 16,
                                  .sources = 8,
                                  .neighbors = 8,
                                  .kept_packets = 16};
constexpr int kEventsPerAdvance = 64;
constexpr int kTurnsMax = 256;

ib_gid to_verbs(const Gid& gid) {
  ib_gid result;
  std::memcpy(result.raw, gid.bytes.data(), sizeof result.raw);
  return result;
}

ib_qp_type type_of(Slot slot) {
  switch (slot) {
    case kUc:
      return IB_QPT_UC;
    case kUd:
    case kUdShared:
      return IB_QPT_UD;
    case kXrcIni:
      return IB_QPT_XRC_INI;
    case kXrcTgt:
      return IB_QPT_XRC_TGT;
    default:
      return IB_QPT_RC;
  }
}

bool is_datagram(const ib_qp& qp) { return qp.qp_type == IB_QPT_UD; }
bool answers(const ib_qp& qp) { return qp.qp_type == IB_QPT_RC || qp.qp_type == IB_QPT_XRC_TGT; }

}  // namespace

ib_gid FuzzHost::group(size_t index) {
  Gid gid = Gid::from_ipv4(0xEF010203);
  if (index % kGroups != 0) gid = {{0xFF, 0x0E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}};
  return to_verbs(gid);
}

Gid FuzzHost::peer_gid(bool ipv6) {
  if (!ipv6) return Gid::from_ipv4(0x0A000002);
  return {{0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
}

FuzzHost::FuzzHost() {
  host_ = &world_.add_host(std::make_unique<sim::Host>(world_, 1, 1, kLimits));
  host_->start();
  arena_ = std::make_unique<Arena>(*host_);
  for (Gid gid; host_->rdma_device().query_gid(static_cast<int64_t>(gids_.size()), gid) == 0;) {
    gids_.push_back(gid);
  }
  make_queues();
  make_addresses();
  for (uint8_t slot = 0; slot < kSlotCount; ++slot) {
    create(static_cast<Slot>(slot));
    Connection connection;
    connection.ipv6 = slot == kUc || slot == kRcShared;
    must(connect(static_cast<Slot>(slot), connection), "ib_modify_qp");
  }
  advance(Duration(100'000'000));  // announcements are under way
}

FuzzHost::~FuzzHost() = default;

void FuzzHost::make_queues() {
  constexpr unsigned kDepths[kCqs] = {256, 64, 16};
  for (size_t i = 0; i < kCqs; ++i) {
    const ib_cq_init_attr attr{.cqe = kDepths[i], .comp_vector = 0, .flags = 0};
    cqs_[i].cq =
        must(ib_create_cq(host_->device(), &FuzzHost::on_completion, nullptr, &cqs_[i], &attr),
             "ib_create_cq");
  }
  xrcd_ = must(ib_alloc_xrcd(host_->device()), "ib_alloc_xrcd");
  ib_srq_init_attr init{};
  init.attr = {.max_wr = kQueueDepth, .max_sge = 2, .srq_limit = 2};
  srq_ = must(ib_create_srq(arena_->pd(), &init), "ib_create_srq");
  init.srq_type = IB_SRQT_XRC;
  init.ext.cq = cqs_[1].cq;
  init.ext.xrc.xrcd = xrcd_;
  xrc_srq_ = must(ib_create_srq(arena_->pd(), &init), "ib_create_srq");
}

rdma_ah_attr FuzzHost::path_to(const Gid& gid, bool direct) const {
  rdma_ah_attr attr{};
  attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  attr.port_num = 1;
  ib_gid dgid = to_verbs(gid);
  rdma_ah_set_grh(&attr, &dgid, 0, gid.is_ipv4() ? 1 : 2, 64, 0);
  const MacAddress mac = peer_mac();
  if (direct) std::copy(mac.bytes.begin(), mac.bytes.end(), attr.roce.dmac);
  return attr;
}

void FuzzHost::make_addresses() {
  const auto add = [this](const Gid& gid, bool direct) {
    rdma_ah_attr attr = path_to(gid, direct);
    ahs_.push_back(must(rdma_create_ah(arena_->pd(), &attr, 0), "rdma_create_ah"));
  };
  ahs_.reserve(4 + kGroups);
  add(peer_gid(false), true);
  add(peer_gid(true), true);
  add(host_->ipv4(), false);
  add(host_->ipv6(), false);
  for (size_t i = 0; i < kGroups; ++i) {
    Gid gid;
    std::memcpy(gid.bytes.data(), group(i).raw, gid.bytes.size());
    add(gid, false);
  }
}

bool FuzzHost::owns(const wire::ParsedFrame& frame) const {
  return std::ranges::any_of(gids_, [&](const Gid& gid) { return frame.source_is(gid); });
}

const transport::QpContext* FuzzHost::context(const QpSlot& slot) {
  return slot.qp == nullptr ? nullptr : host_->engine().qp(Qpn(slot.qp->qp_num));
}

void FuzzHost::on_completion(ib_cq* /*cq*/, void* slot) {
  static_cast<CqSlot*>(slot)->notified = true;
}

void FuzzHost::on_qp_event(ib_event* event, void* slot) {
  const ib_qp* const qp = static_cast<QpSlot*>(slot)->qp;
  if (qp == event->element.qp) return;
  breach("event \"%s\" for a queue pair that has gone", ib_event_msg(event->event));
}

void FuzzHost::create(Slot which) {
  QpSlot& slot = slots_[which];
  ib_qp_init_attr init{};
  init.event_handler = &FuzzHost::on_qp_event;
  init.qp_context = &slot;
  init.sq_sig_type = IB_SIGNAL_REQ_WR;
  init.qp_type = type_of(which);
  if (which == kXrcTgt) {
    init.xrcd = xrcd_;
  } else {
    const bool small = which == kUd || which == kUdShared;
    init.send_cq = cqs_[small ? 2 : 0].cq;
    init.recv_cq = cqs_[small ? 2 : 1].cq;
    init.cap = {kQueueDepth, kQueueDepth, 3, 2, 64, 0};
    if (which == kRcShared || which == kUdShared) init.srq = srq_;
  }
  slot.qp = must(ib_create_qp(which == kXrcTgt ? nullptr : arena_->pd(), &init), "ib_create_qp");
  slot.book = {};
}

int FuzzHost::modify(QpSlot& slot, ib_qp_attr& attr, int mask) {
  const int result = ib_modify_qp(slot.qp, &attr, mask);
  if (result != 0 || (mask & IB_QP_STATE) == 0) return result;
  if (attr.qp_state == IB_QPS_RTS) slot.book.sends_again();
  if (attr.qp_state == IB_QPS_RESET) slot.book.reset(false);
  return 0;
}

int FuzzHost::to_init(QpSlot& slot) {
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = kQkey;
  attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
                         IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT;
  return modify(slot, attr,
                IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
                    (is_datagram(*slot.qp) ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS));
}

int FuzzHost::to_rtr(Slot which, const Connection& connection) {
  QpSlot& slot = slots_[which];
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RTR;
  if (is_datagram(*slot.qp)) return modify(slot, attr, IB_QP_STATE);
  attr.path_mtu = slot.mtu = connection.mtu;
  attr.rq_psn = connection.first_psn;
  attr.max_dest_rd_atomic = connection.rd_atomic;
  attr.min_rnr_timer = 1;
  attr.dest_qp_num = which == kLoop ? slot.qp->qp_num : kPeerQpn + which;
  const Gid own = connection.ipv6 ? host_->ipv6() : host_->ipv4();
  attr.ah_attr = path_to(which == kLoop ? own : peer_gid(connection.ipv6), which != kLoop);
  return modify(slot, attr,
                IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
                    (answers(*slot.qp) ? IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER : 0));
}

int FuzzHost::to_rts(QpSlot& slot, const Connection& connection) {
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RTS;
  attr.sq_psn = connection.first_psn;
  attr.timeout = connection.timeout;
  attr.retry_cnt = attr.rnr_retry = connection.retries;
  attr.max_rd_atomic = connection.rd_atomic;
  int mask = IB_QP_STATE | IB_QP_SQ_PSN;
  if (slot.qp->qp_type == IB_QPT_XRC_TGT) mask |= IB_QP_TIMEOUT;
  if (slot.qp->qp_type == IB_QPT_RC || slot.qp->qp_type == IB_QPT_XRC_INI) {
    mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
  }
  return modify(slot, attr, mask);
}

int FuzzHost::connect(Slot which, const Connection& connection) {
  QpSlot& slot = slots_[which];
  if (const int error = to_init(slot); error != 0) return error;
  if (const int error = to_rtr(which, connection); error != 0) return error;
  return to_rts(slot, connection);
}

int FuzzHost::destroy(Slot which) {
  QpSlot& slot = slots_[which];
  if (slot.qp == nullptr) return 0;
  const int result = ib_destroy_qp(slot.qp);
  if (result != 0) return result;
  slot.qp = nullptr;
  slot.book = {};
  return 0;
}

void FuzzHost::settle() {
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    host_->pump();
    if (!host_->engine().has_output(world_.now())) return;
  }
  breach("the host's loop has something to send without end");
}

void FuzzHost::advance(Duration span) {
  const Time end = world_.now() + span;
  int events = 0;
  while (world_.next_event() <= end && events++ < kEventsPerAdvance) world_.step();
  if (world_.next_event() > end) world_.run_until(end);
}

void FuzzHost::take(const ib_wc& wc) {
  // What an overrun has lost leaves holes in every book.
  if (host_->engine().counters().cq_overrun.value() != 0) return;
  for (QpSlot& slot : slots_) {
    if (slot.qp == nullptr || wc.qp != slot.qp->real_qp) continue;
    if (Numbers::queue_of(wc.wr_id) == Queue::kShared) return shared_book_.take(wc);
    return slot.book.take(wc);
  }
  breach("completion %#llx of a queue pair that has gone", wc.wr_id);
}

void FuzzHost::poll(CqSlot& cq) {
  std::array<ib_wc, 16> entries;
  int all = 0;
  for (;;) {
    const int count = ib_poll_cq(cq.cq, entries.size(), entries.data());
    for (int i = 0; i < count; ++i) take(entries[static_cast<size_t>(i)]);
    all += count;
    if (count < static_cast<int>(entries.size())) break;
  }
  if (all == 0) return;
  if (cq.armed && !cq.notified && !cq.moderated &&
      host_->engine().counters().events_lost.value() == 0) {
    breach("%d completions came to an armed queue and woke nobody", all);
  }
  cq.armed = cq.notified = false;
}

void FuzzHost::poll_all() {
  for (CqSlot& cq : cqs_) poll(cq);
}

// Every request that is left completes, now.
void FuzzHost::flush_all() {
  settle();
  poll_all();
  for (QpSlot& slot : slots_) {
    if (slot.qp == nullptr) continue;
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_ERR;
    const transport::QpContext* const qp = context(slot);
    if (qp->state == transport::QpState::kReset) continue;
    must(modify(slot, attr, IB_QP_STATE), "to ERR");
    settle();
    poll_all();
    if (host_->engine().counters().cq_overrun.value() == 0) {
      slot.book.check_flushed(slot.qp->qp_num);
    }
  }
}

void FuzzHost::destroy_all() {
  for (uint8_t which = 0; which < kSlotCount; ++which) {
    QpSlot& slot = slots_[which];
    for (size_t i = 0; slot.qp != nullptr && i < kGroups; ++i) {
      ib_gid gid = group(i);
      ib_detach_mcast(slot.qp, &gid, 0);
    }
    must(destroy(static_cast<Slot>(which)), "ib_destroy_qp");
  }
  for (ib_ah* ah : ahs_) must(rdma_destroy_ah(ah, 0), "rdma_destroy_ah");
  must(ib_destroy_srq(xrc_srq_), "ib_destroy_srq");
  must(ib_destroy_srq(srq_), "ib_destroy_srq");
  must(ib_dealloc_xrcd(xrcd_), "ib_dealloc_xrcd");
  for (CqSlot& cq : cqs_) {
    if (ib_wc wc; ib_poll_cq(cq.cq, 1, &wc) != 0) breach("a completion outlives its queue pair");
    must(ib_destroy_cq(cq.cq), "ib_destroy_cq");
  }
}

void FuzzHost::check_end() {
  sim::Verdict verdict;
  sim::check_frame_counters(*host_, verdict);
  sim::check_allocations(*host_, verdict);
  sim::check_leaks(*host_, verdict);
  if (!verdict.good()) breach("%s", verdict.text().c_str());
}

void FuzzHost::close() {
  flush_all();
  arena_->check_untouched();
  destroy_all();
  arena_.reset();
  settle();
  check_end();
}

}  // namespace uroce::fuzz
