// SPDX-License-Identifier: BSD-3-Clause
// For scenarios: two hosts, a connected RC pair, and a registered area at each end.
#ifndef UROCE_TEST_SIM_PAIR_H
#define UROCE_TEST_SIM_PAIR_H

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "test/sim/host.h"

namespace uroce::sim {

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
    ib_qp* qp = nullptr;
  } a, b;

  // `timeout`: the code of the ACK timeout of both ends.
  explicit Pair(uint8_t timeout = 14) {
    left.start();
    right.start();
    make(left, a);
    make(right, b);
    connect(right, a, b, timeout);
    connect(left, b, a, timeout);
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
    cq_attr.cqe = 16;
    side.cq = ib_create_cq(host.device(), nullptr, nullptr, nullptr, &cq_attr);
    side.mr =
        ib_reg_user_mr(side.pd, reinterpret_cast<uint64_t>(side.memory.data()), side.memory.size(),
                       kIova, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
    ib_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = side.cq;
    attr.cap = {4, 4, 1, 1, 0, 0};
    attr.sq_sig_type = IB_SIGNAL_ALL_WR;
    attr.qp_type = IB_QPT_RC;
    side.qp = ib_create_qp(side.pd, &attr);
  }
  static void connect(Host& peer, Side& side, const Side& other, uint8_t timeout) {
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE;
    ASSERT_EQ(ib_modify_qp(side.qp, &attr,
                           IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS),
              0);
    attr.qp_state = IB_QPS_RTR;
    attr.path_mtu = IB_MTU_1024;
    attr.dest_qp_num = other.qp->qp_num;
    attr.ah_attr.port_num = 1;
    ib_gid dgid;
    std::memcpy(dgid.raw, peer.ipv4().bytes.data(), 16);
    rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, 1, 64, 0);
    ASSERT_EQ(ib_modify_qp(side.qp, &attr,
                           IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
                               IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER),
              0);
    attr.qp_state = IB_QPS_RTS;
    attr.timeout = timeout;
    attr.retry_cnt = 7;
    ASSERT_EQ(ib_modify_qp(side.qp, &attr,
                           IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
                               IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC),
              0);
  }
  void post_write(uint32_t length) {
    ib_sge sge{kIova, length, a.mr->lkey};
    ib_rdma_wr wr{};
    wr.wr.opcode = IB_WR_RDMA_WRITE;
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.remote_addr = kIova + 0x8000;
    wr.rkey = b.mr->rkey;
    ASSERT_EQ(ib_post_send(a.qp, &wr.wr, nullptr), 0);
    left.pump();
  }
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_PAIR_H
