// SPDX-License-Identifier: BSD-3-Clause
// For scenarios: two hosts, a connected RC pair, and a registered area at each end.
#ifndef UROCE_TEST_SIM_PAIR_H
#define UROCE_TEST_SIM_PAIR_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "test/sim/host.h"

namespace uroce::sim {

struct PairOptions {
  uint8_t timeout = 14;
  uint8_t retry_cnt = 7;
  uint8_t rnr_retry = 7;
  uint8_t min_rnr_timer = 8;  // 160 us
  uint32_t first_psn = 0;
  ib_mtu mtu[2] = {IB_MTU_1024, IB_MTU_1024};
  uint8_t gid_index = 1;  // at both ends: 0 link-local, 1 IPv4, 2 IPv6
};

struct Pair {
  static constexpr uint64_t kIova = 0x7000'0000'0000;
  World world{1};
  Host& left = world.add_host(std::make_unique<Host>(world, 1, 1));
  Host& right = world.add_host(std::make_unique<Host>(world, 2, 2));
  struct Side {
    std::vector<uint8_t> memory = std::vector<uint8_t>(65536, 0xEE);
    ib_pd* pd = nullptr;
    ib_cq* cq = nullptr;
    ib_mr* mr = nullptr;
    uint32_t rkey = 0;  // of mr, as the peer knows it, even when the region has gone
    ib_qp* qp = nullptr;
  } a, b;
  uint64_t next_id = 0;

  const PairOptions options;

  // `timeout`: the code of the ACK timeout of both ends.
  explicit Pair(uint8_t timeout) : Pair(PairOptions{.timeout = timeout}) {}
  explicit Pair(const PairOptions& wanted = {}) : options(wanted) {
    left.start();
    right.start();
    make(left, a);
    make(right, b);
    connect();
  }
  ~Pair() {
    for (Side* side : {&a, &b}) {
      ib_destroy_qp(side->qp);
      ib_dereg_mr(side->mr);
      ib_destroy_cq(side->cq);
      ib_dealloc_pd(side->pd);
    }
  }
  static void make(Host& host, Side& side) {
    side.pd = ib_alloc_pd(host.device(), 0);
    ib_cq_init_attr cq_attr{};
    cq_attr.cqe = 32;
    side.cq = ib_create_cq(host.device(), nullptr, nullptr, nullptr, &cq_attr);
    side.mr = ib_reg_user_mr(
        side.pd, reinterpret_cast<uint64_t>(side.memory.data()), side.memory.size(), kIova,
        IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
    side.rkey = side.mr->rkey;
    make_qp(side);
  }
  static void make_qp(Side& side) {
    ib_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = side.cq;
    attr.cap = {16, 4, 1, 1, 0, 0};
    attr.sq_sig_type = IB_SIGNAL_ALL_WR;
    attr.qp_type = IB_QPT_RC;
    side.qp = ib_create_qp(side.pd, &attr);
  }
  // Both ends, from RESET to RTS. The hosts are those that the world has now.
  void connect() {
    connect(world.host(1), a, b, options.mtu[0]);
    connect(world.host(0), b, a, options.mtu[1]);
  }
  void connect(Host& peer, Side& side, const Side& other, ib_mtu mtu) const {
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
    ASSERT_EQ(ib_modify_qp(side.qp, &attr,
                           IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS),
              0);
    attr.qp_state = IB_QPS_RTR;
    attr.path_mtu = mtu;
    attr.dest_qp_num = other.qp->qp_num;
    attr.rq_psn = attr.sq_psn = options.first_psn;
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = options.min_rnr_timer;
    attr.ah_attr.port_num = 1;
    ib_gid dgid;
    ASSERT_EQ(rdma_query_gid(peer.device(), 1, options.gid_index, &dgid), 0);
    rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, options.gid_index, 64, 0);
    ASSERT_EQ(ib_modify_qp(side.qp, &attr,
                           IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
                               IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER),
              0);
    attr.qp_state = IB_QPS_RTS;
    attr.timeout = options.timeout;
    attr.retry_cnt = options.retry_cnt;
    attr.rnr_retry = options.rnr_retry;
    ASSERT_EQ(ib_modify_qp(side.qp, &attr,
                           IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
                               IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC),
              0);
  }
  // From the beginning of a's memory, or to it, at the middle of b's.
  void post(ib_wr_opcode opcode, uint32_t length) {
    ib_sge sge{kIova, length, a.mr->lkey};
    ib_rdma_wr wr{};
    wr.wr.wr_id = next_id++;
    wr.wr.opcode = opcode;
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.remote_addr = kIova + 0x8000;
    wr.rkey = b.rkey;
    ASSERT_EQ(ib_post_send(a.qp, &wr.wr, nullptr), 0);
    world.host(0).pump();
  }
  void post_write(uint32_t length) { post(IB_WR_RDMA_WRITE, length); }
  // At the beginning of b's memory.
  void post_recv(uint32_t length) {
    ib_sge sge{kIova, length, b.mr->lkey};
    ib_recv_wr wr{};
    wr.wr_id = next_id++;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ASSERT_EQ(ib_post_recv(b.qp, &wr, nullptr), 0);
  }
  void run_for(Duration time) { world.run_until(world.now() + time); }
  // Announcements of the hosts are over.
  void settle() { run_for(Duration(5'000'000'000)); }
  // Status of each completion that waits at an end.
  static std::vector<ib_wc_status> statuses(const Side& side) {
    std::vector<ib_wc_status> all;
    ib_wc wc;
    while (ib_poll_cq(side.cq, 1, &wc) == 1) all.push_back(wc.status);
    return all;
  }
  const transport::TransportCounters& counters(size_t host) {
    return world.host(host).engine().counters();
  }
  bool written(uint32_t length) const {
    return std::equal(a.memory.begin(), a.memory.begin() + length, b.memory.begin() + 0x8000) &&
           b.memory[0x8000 + length] == 0xEE;
  }
  // Bytes that are worth being sent.
  void paint() {
    for (size_t i = 0; i < a.memory.size(); ++i)
      a.memory[i] = static_cast<uint8_t>(i * 7 + i / 251);
  }
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_PAIR_H
