// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's queue pairs: made, connected, destroyed. Of XRC there are two: the initiator sends
// to the peer's target, and the target receives from the peer's initiator.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "test/sim/check/wire_rules.h"
#include "test/sim/endpoint.h"
#include "test/sim/must.h"

namespace uroce::sim {
namespace {

// A resolution may lose all its frames to the wire: it is asked for again, a while later.
void modify(World& world, ib_qp* qp, ib_qp_attr& attr, int mask, const char* what) {
  int result = ib_modify_qp(qp, &attr, mask);
  for (int i = 0; i < 10 && (result == -ETIMEDOUT || result == -EHOSTUNREACH); ++i) {
    world.run_until(world.now() + Duration(1'000'000'000));
    result = ib_modify_qp(qp, &attr, mask);
  }
  must(result, what);
}

}  // namespace

void Endpoint::create_qps() {
  if (plan_.srq) create_srq();
  ib_qp_init_attr attr{};
  attr.send_cq = send_cq_->cq();
  attr.recv_cq = recv_cq_->cq();
  attr.srq = xrcd_ == nullptr ? srq_ : nullptr;
  attr.cap = {plan_.send_depth, plan_.recv_depth, plan_.sge_max, plan_.sge_max, kInlineMax, 0};
  attr.sq_sig_type = plan_.signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
  attr.event_handler = [](ib_event* event, void* self) {
    static_cast<Endpoint*>(self)->take_event(*event);
  };
  attr.qp_context = this;
  attr.qp_type = plan_.type;
  qp_ = must(ib_create_qp(pd_, &attr), "ib_create_qp");
  if (xrcd_ != nullptr) create_target();
}

void Endpoint::create_target() {
  ib_qp_init_attr attr{};
  attr.qp_type = IB_QPT_XRC_TGT;
  attr.xrcd = xrcd_;
  target_ = must(ib_create_qp(nullptr, &attr), "ib_create_qp of a target");
}

int Endpoint::destroy_qps() {
  const int result = ib_destroy_qp(qp_);
  const int of_target = target_ != nullptr ? ib_destroy_qp(target_) : 0;
  return result != 0 ? result : of_target;
}

void Endpoint::connect(Endpoint& peer, uint32_t life) {
  peer_ = &peer;
  offended_ = orphaned_ = false;
  heard_ = false;
  last_wqes_ = 0;
  to_rtr(qp_, peer.receiver(), life);
  rises_ = plan_.late_rts && side_ == 1;
  if (!rises_) to_rts(qp_, peer.receiver(), life);
  life_ = life;
  if (target_ != nullptr) {
    to_rtr(target_, peer.qp_, life);
    to_rts(target_, peer.qp_, life);
  }
  connected_ = true;
  faults_at_start_ = faults_at_progress_ = faults_so_far();
}

// Of all states, towards a queue pair of the peer.
ib_qp_attr Endpoint::attributes_towards(const ib_qp* peer, uint32_t life) const {
  ib_qp_attr attr{};
  attr.port_num = 1;
  attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
                         IB_ACCESS_FLUSH_GLOBAL;
  // Far from those of the lives before: what is left of them on the wire means nothing.
  const uint32_t step = (life - 1) * 0x513'579;
  attr.path_mtu = plan_.mtu;
  attr.dest_qp_num = peer->qp_num;
  attr.rq_psn = (plan_.first_psn[1 - side_] + step) & 0xFFFFFF;
  attr.sq_psn = (plan_.first_psn[side_] + step) & 0xFFFFFF;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = plan_.rd_atomic;
  attr.min_rnr_timer = plan_.min_rnr_timer;
  attr.timeout = plan_.timeout;
  attr.retry_cnt = plan_.retry_cnt;
  attr.rnr_retry = plan_.rnr_retry;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  const Gid to = plan_.ipv6 ? peer_->host_.ipv6() : peer_->host_.ipv4();
  const Gid from = plan_.ipv6 ? host_.ipv6() : host_.ipv4();
  ib_gid dgid;
  std::memcpy(dgid.raw, to.bytes.data(), 16);
  const int index = host_.rdma_device().find_gid(from);
  rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, static_cast<uint8_t>(index), 64, 0);
  const MacAddress mac = peer_->host_.mac();
  if (plan_.give_mac) std::copy_n(mac.bytes.begin(), 6, attr.ah_attr.roce.dmac);
  return attr;
}

// Those that may still hurt what begins now are not counted: a stall or pause that goes on.
uint64_t Endpoint::faults_so_far() const {
  const Host& peer = peer_->host_;
  if (host_.stalled() || host_.paused() || peer.stalled() || peer.paused()) return 0;
  return world_.faults_between(world_.index_of(host_), world_.index_of(peer));
}

// What a passive end does when the first packet has come, or when it has something to say itself.
void Endpoint::rise() {
  // The peer's first request may have been its last one, too.
  if (host_.engine().qp(Qpn(qp_->qp_num))->state == transport::QpState::kErr) return;
  rises_ = false;
  if (peer_ != nullptr) to_rts(qp_, peer_->receiver(), life_);
}

void Endpoint::to_rtr(ib_qp* qp, const ib_qp* peer, uint32_t life) {
  ib_qp_attr attr = attributes_towards(peer, life);
  attr.qp_state = IB_QPS_INIT;
  modify(world_, qp, attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS,
         "to INIT");
  attr.qp_state = IB_QPS_RTR;
  const bool answers = qp->qp_type == IB_QPT_RC || qp->qp_type == IB_QPT_XRC_TGT;
  modify(world_, qp, attr,
         IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
             (answers ? IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER : 0),
         "to RTR");
  if (world_.rules != nullptr && reliable()) {
    world_.rules->connected({host_.number(), qp->qp_num}, {peer_->host_.number(), peer->qp_num},
                            attr.sq_psn, static_cast<uint32_t>(ib_mtu_enum_to_int(plan_.mtu)),
                            plan_.rnr_retry);
  }
}

void Endpoint::to_rts(ib_qp* qp, const ib_qp* peer, uint32_t life) {
  ib_qp_attr attr = attributes_towards(peer, life);
  const bool asks = qp->qp_type == IB_QPT_RC || qp->qp_type == IB_QPT_XRC_INI;
  attr.qp_state = IB_QPS_RTS;
  modify(world_, qp, attr,
         IB_QP_STATE | IB_QP_SQ_PSN | (reliable() ? IB_QP_TIMEOUT : 0) |
             (asks ? IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC : 0),
         "to RTS");
}

}  // namespace uroce::sim
