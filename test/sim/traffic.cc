// SPDX-License-Identifier: BSD-3-Clause
// Random work requests and the model that judges what becomes of them.
//
// The model needs no knowledge of the wire: a SEND must come out of the peer's queue in order with
// its bytes; a WRITE must lie in the peer's memory when all is over, later ones over earlier ones;
// a READ must return the peer's constant area.
#include "test/sim/traffic.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace uroce::sim {
namespace {

uint8_t pattern(uint64_t seed, uint64_t at) {
  return static_cast<uint8_t>((seed * 0x9E3779B97F4A7C15u + at * 0xC2B2AE3D27D4EB4Fu) >> 56);
}

void must(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(-result));
}

template <typename T>
T* must(T* pointer, const char* what) {
  if (IS_ERR(pointer)) must(static_cast<int>(PTR_ERR(pointer)), what);
  return pointer;
}

}  // namespace

End::End(World& world, Host& host, const TrafficPlan& plan, uint64_t seed)
    : world_(world),
      host_(host),
      plan_(plan),
      random_(seed),
      memory_(kMemory),
      write_model_(kReadArea - kWriteArea) {
  for (uint32_t i = 0; i < kRecvArea; ++i) memory_[kSendArea + i] = pattern(seed, i);
  for (uint32_t i = kReadArea; i < kSinkArea; ++i) memory_[i] = pattern(seed, i);
  pd_ = must(ib_alloc_pd(host.device(), 0), "ib_alloc_pd");
  ib_cq_init_attr cq_attr{};
  cq_attr.cqe = 4 * (plan.send_queue + plan.recv_queue);
  cq_ = must(ib_create_cq(host.device(), nullptr, nullptr, nullptr, &cq_attr), "ib_create_cq");
  mr_ = must(ib_reg_user_mr(pd_, reinterpret_cast<uint64_t>(memory_.data()), kMemory, kIova,
                            IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ),
             "ib_reg_user_mr");
  ib_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq_;
  attr.cap = {plan.send_queue, plan.recv_queue, 3, 1, 0, 0};
  attr.sq_sig_type = IB_SIGNAL_ALL_WR;
  attr.qp_type = IB_QPT_RC;
  qp_ = must(ib_create_qp(pd_, &attr), "ib_create_qp");
}

End::~End() {
  ib_destroy_qp(qp_);
  ib_dereg_mr(mr_);
  ib_destroy_cq(cq_);
  ib_dealloc_pd(pd_);
}

void End::connect(const End& peer) {
  peer_ = const_cast<End*>(&peer);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
  must(ib_modify_qp(qp_, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS),
       "to INIT");
  attr.qp_state = IB_QPS_RTR;
  attr.path_mtu = plan_.mtu;
  attr.dest_qp_num = peer.qp_->qp_num;
  attr.rq_psn = attr.sq_psn = plan_.first_psn;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = 4;
  attr.min_rnr_timer = 8;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  ib_gid dgid;
  std::memcpy(dgid.raw, peer.host_.ipv4().bytes.data(), 16);
  rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, 1, 64, 0);
  must(ib_modify_qp(qp_, &attr,
                    IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
                        IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER),
       "to RTR");
  attr.qp_state = IB_QPS_RTS;
  attr.timeout = 9;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  must(ib_modify_qp(qp_, &attr,
                    IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
                        IB_QP_MAX_QP_RD_ATOMIC),
       "to RTS");
}

void End::work() {
  take_completions();
  post_recvs();
  post_sends();
}

bool End::finished() const {
  return !failure_.empty() ||
         (completed_ == plan_.messages && outstanding_.empty() && expected_.empty());
}

End::Message End::draw() {
  Message message{};
  message.kind = static_cast<Kind>(random_.below(5));
  // Short ones are where the edges are; one in four is long.
  const uint64_t most = random_.below(4) == 0 ? plan_.message_bytes_max : 200;
  message.length = static_cast<uint32_t>(random_.below(most + 1));
  const uint32_t room = (1u << 19) - message.length;
  message.local_offset = static_cast<uint32_t>(random_.below(room));
  message.remote_offset = static_cast<uint32_t>(random_.below(room));
  message.immediate = static_cast<uint32_t>(random_.next64());
  return message;
}

void End::post_sends() {
  while (posted_ < plan_.messages && outstanding_.size() < plan_.send_queue) {
    if (!post_one()) return;
  }
}

bool End::post_one() {
  const Message message = draw();
  ib_rdma_wr wr{};
  ib_sge list[3];
  const bool read = message.kind == Kind::kRead;
  const uint32_t base = (read ? kSinkArea : kSendArea) + message.local_offset;
  // In one to three pieces.
  const uint32_t first = static_cast<uint32_t>(random_.below(message.length + 1));
  list[0] = sge(base, first);
  list[1] = sge(base + first, message.length - first);
  wr.wr.sg_list = list;
  wr.wr.num_sge = message.length == 0 && random_.below(2) == 0 ? 0 : 2;
  wr.wr.wr_id = posted_;
  wr.wr.ex.imm_data = message.immediate;
  static constexpr ib_wr_opcode kOpcodes[] = {IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE,
                                              IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ};
  wr.wr.opcode = kOpcodes[static_cast<size_t>(message.kind)];
  // A READ result that overlaps another's sink would be judged against the wrong bytes.
  wr.wr.send_flags = random_.below(8) == 0 ? IB_SEND_FENCE : 0;
  wr.remote_addr = kIova + (read ? kReadArea : kWriteArea) + message.remote_offset;
  wr.rkey = peer_->mr_->rkey;
  const int result = ib_post_send(qp_, &wr.wr, nullptr);
  if (result != 0) {
    fail("post of message " + std::to_string(posted_) + ": " + std::strerror(-result));
    return false;
  }
  outstanding_.push_back(message);
  ++posted_;
  expect_at_peer(message);
  return true;
}

void End::expect_at_peer(const Message& message) {
  const uint8_t* data = memory_.data() + kSendArea + message.local_offset;
  if (message.kind == Kind::kWrite || message.kind == Kind::kWriteImm) {
    std::copy(data, data + message.length, peer_->write_model_.data() + message.remote_offset);
  }
  if (message.kind == Kind::kWrite || message.kind == Kind::kRead) return;
  peer_->expected_.push_back({message, {data, data + message.length}});
}

void End::post_recvs() {
  // Now and then the application is late with its buffers.
  if (world_.now() < recv_pause_until_) return;
  if (plan_.recv_starves && random_.below(20) == 0) {
    recv_pause_until_ = world_.now() + random_.delay_within(Duration(400'000));
    return;
  }
  while (recvs_posted_ - recvs_done_ < plan_.recv_queue) {
    ib_sge element = sge(kRecvArea + (recvs_posted_ % plan_.recv_queue) * 65'536, 65'536);
    ib_recv_wr wr{};
    wr.wr_id = recvs_posted_;
    wr.sg_list = &element;
    wr.num_sge = 1;
    if (ib_post_recv(qp_, &wr, nullptr) != 0) {
      fail("post of a receive");
      return;
    }
    ++recvs_posted_;
  }
}

void End::take_completions() {
  ib_wc wc;
  while (failure_.empty() && ib_poll_cq(cq_, 1, &wc) == 1) {
    world_.log(host_.name() + " completes " + std::to_string(wc.wr_id) + " opcode " +
               std::to_string(wc.opcode) + " status " + std::to_string(wc.status));
    if (wc.status != IB_WC_SUCCESS) {
      fail(std::string("completion with ") + ib_wc_status_msg(wc.status));
    } else if ((wc.opcode & IB_WC_RECV) != 0) {
      take_recv(wc);
    } else {
      take_send(wc);
    }
  }
}

void End::take_send(const ib_wc& wc) {
  if (wc.wr_id != completed_ || outstanding_.empty()) {
    fail("send completion " + std::to_string(wc.wr_id) + " where " + std::to_string(completed_) +
         " was due");
    return;
  }
  const Message message = outstanding_.front();
  outstanding_.pop_front();
  ++completed_;
  if (message.kind == Kind::kRead) check_read(message);
}

void End::check_read(const Message& message) {
  // Another READ may have written over the sink meanwhile where they overlap: only the last word
  // on each byte can be judged, so a byte is right if any outstanding or completed READ explains
  // it. Sinks are drawn at random in half a megabyte; an overlap is judged by its source alone.
  const uint8_t* sink = memory_.data() + kSinkArea + message.local_offset;
  const uint8_t* source = peer_->memory_.data() + kReadArea + message.remote_offset;
  if (std::memcmp(sink, source, message.length) == 0) return;
  for (const Message& other : outstanding_) {
    if (other.kind == Kind::kRead && other.local_offset < message.local_offset + message.length &&
        message.local_offset < other.local_offset + other.length) {
      return;
    }
  }
  fail("a READ of " + std::to_string(message.length) + " bytes returned other bytes");
}

void End::take_recv(const ib_wc& wc) {
  if (expected_.empty() || wc.wr_id != recvs_done_) {
    fail("a receive completed that nobody sent for");
    return;
  }
  const auto [message, data] = expected_.front();
  expected_.pop_front();
  const uint8_t* buffer = memory_.data() + kRecvArea + (recvs_done_ % plan_.recv_queue) * 65'536;
  ++recvs_done_;
  const bool write = message.kind == Kind::kWriteImm;
  const bool immediate = write || message.kind == Kind::kSendImm;
  if (wc.byte_len != message.length) fail("a message of another length arrived");
  if (immediate != ((wc.wc_flags & IB_WC_WITH_IMM) != 0)) fail("the immediate flag is wrong");
  if (immediate && wc.ex.imm_data != message.immediate) fail("another immediate arrived");
  if (!write && !std::equal(data.begin(), data.end(), buffer)) fail("other bytes arrived");
}

void End::compare_memory() {
  if (!failure_.empty()) return;
  if (std::memcmp(memory_.data() + kWriteArea, write_model_.data(), write_model_.size()) != 0) {
    fail("written memory differs from the model");
  }
}

void End::fail(const std::string& what) {
  if (failure_.empty()) failure_ = host_.name() + ": " + what;
}

ib_sge End::sge(uint32_t offset, uint32_t length) const {
  return {kIova + offset, length, mr_->lkey};
}

}  // namespace uroce::sim
