// SPDX-License-Identifier: BSD-3-Clause
// The ICRC rule where it matters most: a WRITE whose address was flipped on the way, with the ICRC
// of the original, must not touch a byte and must not be answered.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "test/sim/host.h"

namespace uroce::sim {
namespace {

// Two hosts, a connected RC pair, and a registered area at each end.
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

  Pair() {
    left.start();
    right.start();
    make(left, a);
    make(right, b);
    connect(right, a, b);
    connect(left, b, a);
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
  static void connect(Host& peer, Side& side, const Side& other) {
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
    attr.timeout = 14;
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

TEST(FlippedAddress, AWriteWithAFlippedAddressBitAndTheOldIcrcTouchesNothing) {
  Pair pair;
  std::fill(pair.a.memory.begin(), pair.a.memory.end(), uint8_t{0x55});
  pair.world.run_until(pair.world.now() + Duration(5'000'000'000));  // announcements are over
  pair.world.faults.loss = 1;                                        // the original never arrives
  pair.post_write(64);
  const std::vector<uint8_t> original = pair.world.last_frame();
  ASSERT_EQ(original.size(), 14u + 20 + 8 + 12 + 16 + 64 + 4);
  const uint64_t sent_before = pair.world.counters().sent;
  const auto icrc = static_cast<size_t>(wire::Drop::kIcrc);
  for (size_t bit = 0; bit < 64; ++bit) {
    std::vector<uint8_t> flipped = original;
    flipped[54 + bit / 8] = static_cast<uint8_t>(flipped[54 + bit / 8] ^ (1u << (bit % 8)));
    pair.world.inject(pair.right, flipped);
    pair.world.run_until(pair.world.now());
  }
  EXPECT_EQ(pair.b.memory, std::vector<uint8_t>(65536, 0xEE));
  EXPECT_EQ(pair.right.engine().drops().by_reason[icrc].value(), 64u);
  EXPECT_EQ(pair.world.counters().sent, sent_before) << "somebody answered";
  // The same frame unharmed is taken: it was the flip that was refused.
  pair.world.inject(pair.right, original);
  pair.world.run_until(pair.world.now());
  EXPECT_EQ(pair.b.memory[0x8000], 0x55);
}

}  // namespace
}  // namespace uroce::sim
