// SPDX-License-Identifier: BSD-3-Clause
// Making, connecting and destroying the verbs objects of one endpoint.
#include "common/endpoint.h"

#include <arpa/inet.h>

#include <cerrno>
#include <cstring>

namespace uroce::app {
namespace {

bool is_link_local(const ib_gid& gid) { return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80; }

}  // namespace

VerbsError::VerbsError(const std::string& call, int error)
    : std::runtime_error(call + ": " + std::strerror(-error)) {}

void check(int result, const char* call) {
  if (result < 0) throw VerbsError(call, result);
}

bool take(ib_cq* cq, ib_wc& wc) {
  const int count = ib_poll_cq(cq, 1, &wc);
  check(count, "ib_poll_cq");
  if (count == 0) return false;
  if (wc.status != IB_WC_SUCCESS) {
    throw std::runtime_error(std::string("a completion says: ") + ib_wc_status_msg(wc.status));
  }
  return true;
}

Endpoint::Endpoint(ib_device* device, const EndpointOptions& options)
    : device_(device),
      options_(options),
      buffer_(std::make_unique<uint8_t[]>(options.buffer_bytes)) {
  pd_ = check(ib_alloc_pd(device, 0), "ib_alloc_pd");
  cq_ = options.shared_cq;
  if (cq_ == nullptr) {
    ib_cq_init_attr cq_attr{};
    cq_attr.cqe = options.send_wr + options.recv_wr;
    cq_ = check(ib_create_cq(device, options.comp_handler, nullptr, options.comp_context, &cq_attr),
                "ib_create_cq");
  }
  const auto start = reinterpret_cast<uint64_t>(buffer_.get());
  mr_ =
      check(ib_reg_user_mr(pd_, start, options.buffer_bytes, start,
                           IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ),
            "ib_reg_user_mr");
  ib_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq_;
  attr.cap = {options.send_wr, options.recv_wr, 2, 2, options.inline_bytes, 0};
  attr.sq_sig_type = IB_SIGNAL_REQ_WR;
  attr.qp_type = options.type;
  qp_ = check(ib_create_qp(pd_, &attr), "ib_create_qp");
}

Endpoint::~Endpoint() {
  ib_destroy_qp(qp_);
  ib_dereg_mr(mr_);
  if (options_.shared_cq == nullptr) ib_destroy_cq(cq_);
  ib_dealloc_pd(pd_);
}

void Endpoint::connect(const ib_gid& peer, uint32_t peer_qpn, ib_mtu mtu, uint32_t psn,
                       int sgid_index) {
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
  check(ib_modify_qp(qp_, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS),
        "ib_modify_qp to INIT");
  attr.qp_state = IB_QPS_RTR;
  attr.path_mtu = mtu;
  attr.dest_qp_num = peer_qpn;
  attr.rq_psn = psn;
  attr.max_dest_rd_atomic = 8;
  attr.min_rnr_timer = 12;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  ib_gid dgid = peer;
  rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, static_cast<uint8_t>(sgid_index), 64, 0);
  check(ib_modify_qp(qp_, &attr,
                     IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
                         IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER),
        "ib_modify_qp to RTR");
  attr.qp_state = IB_QPS_RTS;
  attr.sq_psn = psn;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 8;
  check(ib_modify_qp(qp_, &attr,
                     IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
                         IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC),
        "ib_modify_qp to RTS");
}

void Endpoint::activate(uint32_t qkey) {
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = qkey;
  check(ib_modify_qp(qp_, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY),
        "ib_modify_qp to INIT");
  attr.qp_state = IB_QPS_RTR;
  check(ib_modify_qp(qp_, &attr, IB_QP_STATE), "ib_modify_qp to RTR");
  attr.qp_state = IB_QPS_RTS;
  check(ib_modify_qp(qp_, &attr, IB_QP_STATE | IB_QP_SQ_PSN), "ib_modify_qp to RTS");
}

ib_sge Endpoint::sge(uint32_t offset, uint32_t length) const {
  return {reinterpret_cast<uint64_t>(buffer_.get()) + offset, length, mr_->lkey};
}

void Endpoint::post_recv(uint32_t offset, uint32_t length, uint64_t wr_id) {
  ib_sge element = sge(offset, length);
  ib_recv_wr wr{};
  wr.wr_id = wr_id;
  wr.sg_list = &element;
  wr.num_sge = 1;
  check(ib_post_recv(qp_, &wr, nullptr), "ib_post_recv");
}

int Endpoint::post_send(const SendRange& range) {
  ib_send_wr wr{};
  return post(wr, IB_WR_SEND, range);
}

int Endpoint::post_datagram(const SendRange& range, const DatagramTarget& to) {
  ib_ud_wr wr{};
  wr.ah = to.ah;
  wr.remote_qpn = to.qpn;
  wr.remote_qkey = to.qkey;
  return post(wr.wr, IB_WR_SEND, range);
}

int Endpoint::post_rdma(ib_wr_opcode opcode, const SendRange& range, uint64_t remote_addr,
                        uint32_t rkey) {
  ib_rdma_wr wr{};
  wr.remote_addr = remote_addr;
  wr.rkey = rkey;
  return post(wr.wr, opcode, range);
}

int Endpoint::post(ib_send_wr& wr, ib_wr_opcode opcode, const SendRange& range) {
  ib_sge element = sge(range.offset, range.length);
  wr.wr_id = range.wr_id;
  wr.opcode = opcode;
  wr.send_flags = range.flags;
  wr.sg_list = &element;
  wr.num_sge = 1;
  return ib_post_send(qp_, &wr, nullptr);
}

AddressHandle::AddressHandle(const Endpoint& of, const ib_gid& destination, int sgid_index,
                             uint8_t hop_limit) {
  rdma_ah_attr attr{};
  attr.port_num = 1;
  attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  ib_gid dgid = destination;
  rdma_ah_set_grh(&attr, &dgid, 0, static_cast<uint8_t>(sgid_index), hop_limit, 0);
  ah_ = check(rdma_create_ah(of.pd(), &attr, 0), "rdma_create_ah");
}

AddressHandle::~AddressHandle() { rdma_destroy_ah(ah_, 0); }

bool is_ipv4(const ib_gid& gid) {
  static constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, kMapped, sizeof kMapped) == 0;
}

GidEntry ipv4_gid(ib_device* device) {
  GidEntry entry{};
  for (entry.index = 0; rdma_query_gid(device, 1, entry.index, &entry.gid) != -EINVAL;
       ++entry.index) {
    if (is_ipv4(entry.gid)) return entry;
  }
  throw std::runtime_error(std::string(device->name) + " has no IPv4 address");
}

GidEntry source_gid(ib_device* device, const ib_gid& destination) {
  GidEntry link_local{{}, -1};
  GidEntry entry{};
  for (entry.index = 0;; ++entry.index) {
    const int result = rdma_query_gid(device, 1, entry.index, &entry.gid);
    if (result == -EINVAL) break;
    if (result != 0 || is_ipv4(entry.gid) != is_ipv4(destination)) continue;
    if (is_link_local(entry.gid) == is_link_local(destination)) return entry;
    if (is_link_local(entry.gid)) link_local = entry;
  }
  if (link_local.index >= 0) return link_local;
  throw std::runtime_error(std::string(device->name) + " has no IPv" +
                           (is_ipv4(destination) ? "4" : "6") + " address to reach " +
                           gid_text(destination) + " from: give its port one");
}

std::string gid_text(const ib_gid& gid) {
  char text[INET6_ADDRSTRLEN];
  if (is_ipv4(gid)) {
    inet_ntop(AF_INET, gid.raw + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, gid.raw, text, sizeof text);
  }
  return text;
}

}  // namespace uroce::app
