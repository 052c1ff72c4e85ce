// SPDX-License-Identifier: BSD-3-Clause
// Datagrams out of and into one queue pair.
#include "test/sim/datagram_end.h"

#include <algorithm>
#include <cstring>

#include "test/sim/bring_up.h"
#include "test/sim/must.h"

namespace uroce::sim {
namespace {

ib_gid verbs_gid(const Gid& gid) {
  ib_gid result;
  std::memcpy(result.raw, gid.bytes.data(), 16);
  return result;
}

const Gid kGroupGid = Gid::from_ipv4(0xEF010203);  // 239.1.2.3

}  // namespace

DatagramEnd::DatagramEnd(World& world, Host& host, DatagramBook& book, Verdict& verdict)
    : world_(world), host_(host), book_(book), verdict_(verdict), memory_(2 * kDepth * kSlot) {
  pd_ = must(ib_alloc_pd(host.device(), 0), "ib_alloc_pd");
  ib_cq_init_attr cq_attr{};
  cq_attr.cqe = 4 * kDepth;
  cq_ = must(ib_create_cq(host.device(), nullptr, nullptr, nullptr, &cq_attr), "ib_create_cq");
  const auto start = reinterpret_cast<uint64_t>(memory_.data());
  mr_ = must(ib_reg_user_mr(pd_, start, memory_.size(), start, IB_ACCESS_LOCAL_WRITE),
             "ib_reg_user_mr");
  host_.note_key(mr_->lkey);
  ib_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.cap = {kDepth, kDepth, 1, 1, kInlineMax, 0};
  init.sq_sig_type = IB_SIGNAL_ALL_WR;
  init.qp_type = IB_QPT_UD;
  qp_ = must(ib_create_qp(pd_, &init), "ib_create_qp");
  bring_up_datagrams(qp_, kQkey);
}

DatagramEnd::~DatagramEnd() {
  ib_gid group = verbs_gid(kGroupGid);
  if (member_) ib_detach_mcast(qp_, &group, 0);
  ib_destroy_qp(qp_);
  ib_dereg_mr(mr_);
  ib_destroy_cq(cq_);
  ib_dealloc_pd(pd_);
}

void DatagramEnd::toggle_membership() {
  ib_gid group = verbs_gid(kGroupGid);
  if (member_) {
    must(ib_detach_mcast(qp_, &group, 0), "ib_detach_mcast");
  } else {
    must(ib_attach_mcast(qp_, &group, 0), "ib_attach_mcast");
  }
  member_ = !member_;
  was_member_ = was_member_ || member_;
}

ib_ah* DatagramEnd::address_of(const DatagramEnd* to) {
  rdma_ah_attr attr{};
  attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  attr.port_num = 1;
  ib_gid dgid = verbs_gid(to == nullptr ? kGroupGid : to->host_.ipv4());
  const int index = host_.rdma_device().find_gid(host_.ipv4());
  rdma_ah_set_grh(&attr, &dgid, 0, static_cast<uint8_t>(index), 64, 0);
  if (to != nullptr && to != this) {
    const MacAddress mac = to->host_.mac();
    std::copy_n(mac.bytes.begin(), 6, attr.roce.dmac);
  }
  return must(rdma_create_ah(pd_, &attr, 0), "rdma_create_ah");
}

ib_sge DatagramEnd::slot(uint64_t id, bool receive) const {
  const uint64_t index = id % kDepth + (receive ? kDepth : 0);
  return {reinterpret_cast<uint64_t>(memory_.data()) + index * kSlot, kSlot, mr_->lkey};
}

void DatagramEnd::send(const Operation& operation, const DatagramEnd* to) {
  if (posted_ - completed_ >= kDepth) return;
  ib_sge sge = slot(posted_, false);
  sge.length = operation.length;
  std::vector<uint8_t> bytes(operation.length);
  for (uint32_t i = 0; i < operation.length; ++i) {
    bytes[i] = static_cast<uint8_t>((posted_ * 31 + host_.number()) * 0x9E3779B1u * (i + 1) >> 16);
  }
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(sge.addr));
  ib_ah* const ah = address_of(to);
  ib_ud_wr wr{};
  wr.wr.wr_id = posted_;
  wr.wr.sg_list = &sge;
  wr.wr.num_sge = 1;
  wr.wr.opcode = IB_WR_SEND_WITH_IMM;
  wr.wr.send_flags = operation.inlined && operation.length <= kInlineMax ? IB_SEND_INLINE : 0;
  wr.ah = ah;
  wr.remote_qpn = to == nullptr ? IB_MULTICAST_QPN : to->qp_->qp_num;
  wr.remote_qkey = kQkey;
  const size_t target = to == nullptr ? DatagramBook::kGroup : world_.index_of(to->host_);
  wr.wr.ex.imm_data = book_.sent(qp_->qp_num, target, std::move(bytes));
  must(ib_post_send(qp_, &wr.wr, nullptr), "ib_post_send");
  ++posted_;
  // What is posted keeps its address.
  must(rdma_destroy_ah(ah, 0), "rdma_destroy_ah");
}

void DatagramEnd::take_recv(const ib_wc& wc) {
  if (wc.wr_id != recvs_taken_++ || wc.byte_len < kGrh || wc.byte_len > kSlot) {
    return verdict_.fail("completions", "a datagram's receive is not the one that was due");
  }
  const auto* at = reinterpret_cast<const uint8_t*>(slot(wc.wr_id, true).addr);
  // A frame that went to a group is copied by the wire for each host, and doubled there at most.
  const uint64_t copies_max = world_.faults.duplicate > 0 ? UINT64_MAX : 1;
  book_.received(wc.ex.imm_data, wc.src_qp, world_.index_of(host_), was_member_,
                 {at + kGrh, wc.byte_len - kGrh}, copies_max, verdict_);
}

void DatagramEnd::serve() {
  if (host_.stalled()) return;
  ib_wc wc;
  while (verdict_.good() && ib_poll_cq(cq_, 1, &wc) == 1) {
    if (wc.status != IB_WC_SUCCESS) {
      verdict_.fail("completions", std::string("a datagram: ") + ib_wc_status_msg(wc.status));
    } else if ((wc.opcode & IB_WC_RECV) != 0) {
      take_recv(wc);
    } else if (wc.wr_id != completed_++) {
      verdict_.fail("completions", "a datagram completes out of order");
    }
  }
  while (recvs_posted_ - recvs_taken_ < kDepth) {
    ib_sge sge = slot(recvs_posted_, true);
    ib_recv_wr wr{};
    wr.wr_id = recvs_posted_++;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    must(ib_post_recv(qp_, &wr, nullptr), "ib_post_recv");
  }
}

}  // namespace uroce::sim
