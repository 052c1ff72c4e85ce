// SPDX-License-Identifier: BSD-3-Clause
// For tests: the native face on the device's test bed, with the usual objects made.
#ifndef UROCE_VERBS_FACE_FIXTURE_H
#define UROCE_VERBS_FACE_FIXTURE_H

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <vector>

#include "device/device_fixture.h"
#include "verbs/face.h"
#include "verbs/handles.h"

namespace uroce::verbs {

inline constexpr __u32 kQkey = 0x11111111;

class FaceTest : public testing::Test {
 protected:
  explicit FaceTest(const device::TestBedOptions& options = {}) : bed_(options) {
    ibdev_ = open_device(bed_.device());
    EXPECT_EQ(bed_.device().start(), 0);
    bed_.on_event = dispatch_event;
    pd_ = ib_alloc_pd(ibdev_, 0);
    EXPECT_FALSE(IS_ERR(pd_));
    const ib_cq_init_attr attr{.cqe = 64, .comp_vector = 0, .flags = 0};
    cq_ = ib_create_cq(ibdev_, &FaceTest::on_completion, &FaceTest::on_cq_event, this, &attr);
    EXPECT_FALSE(IS_ERR(cq_));
  }
  ~FaceTest() override {
    for (ib_qp* qp : qps_) EXPECT_EQ(ib_destroy_qp(qp), 0);
    for (ib_ah* ah : ahs_) EXPECT_EQ(rdma_destroy_ah(ah, 0), 0);
    EXPECT_EQ(ib_destroy_cq(cq_), 0);
    EXPECT_EQ(ib_dealloc_pd(pd_), 0);
    close_device(ibdev_);
  }

  static void on_completion(ib_cq*, void* self) {
    ++static_cast<FaceTest*>(self)->completion_events_;
  }
  static void on_cq_event(ib_event* event, void* self) {
    static_cast<FaceTest*>(self)->cq_events_.push_back(event->event);
  }

  static ib_gid gid_of(const Gid& gid) {
    ib_gid raw;
    from_gid(gid, raw);
    return raw;
  }
  static rdma_ah_attr to(const Gid& dgid, __u8 sgid_index = 1) {
    rdma_ah_attr attr{};
    attr.type = RDMA_AH_ATTR_TYPE_ROCE;
    ib_gid raw = gid_of(dgid);
    rdma_ah_set_grh(&attr, &raw, 0, sgid_index, 64, 0);
    rdma_ah_set_port_num(&attr, 1);
    return attr;
  }

  ib_qp_init_attr init(ib_qp_type type) const {
    ib_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.qp_type = type;
    attr.sq_sig_type = IB_SIGNAL_REQ_WR;
    attr.cap = {.max_send_wr = 8,
                .max_recv_wr = 8,
                .max_send_sge = 2,
                .max_recv_sge = 2,
                .max_inline_data = 64,
                .max_rdma_ctxs = 0};
    return attr;
  }
  // Destroyed with the fixture.
  ib_qp* make(ib_qp_type type) {
    ib_qp_init_attr attr = init(type);
    ib_qp* qp = ib_create_qp(pd_, &attr);
    EXPECT_FALSE(IS_ERR(qp)) << PTR_ERR(qp);
    qps_.push_back(qp);
    return qp;
  }
  // A UD queue pair in RTS that completes its sends on `send_cq`; the caller destroys it.
  ib_qp* make_sender(ib_cq* send_cq) {
    ib_qp_init_attr attr = init(IB_QPT_UD);
    attr.send_cq = send_cq;
    ib_qp* qp = ib_create_qp(pd_, &attr);
    EXPECT_FALSE(IS_ERR(qp)) << PTR_ERR(qp);
    bring_to(qp, IB_QPS_RTS);
    return qp;
  }
  void forget(ib_qp* qp) { std::erase(qps_, qp); }
  ib_ah* handle_to(const Gid& dgid, __u8 sgid_index = 1) {
    rdma_ah_attr attr = to(dgid, sgid_index);
    ib_ah* ah = rdma_create_ah(pd_, &attr, 0);
    EXPECT_FALSE(IS_ERR(ah)) << PTR_ERR(ah);
    ahs_.push_back(ah);
    return ah;
  }

  // Moves an RC queue pair to RTS, to a peer that is not here: its packets are seen on the wire.
  void connect_out(ib_qp* qp, __u8 traffic_class = 0) {
    bring_to(qp, IB_QPS_INIT);
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_RTR;
    attr.path_mtu = IB_MTU_1024;
    attr.dest_qp_num = 0x12;
    attr.ah_attr = to(device::kTestPeer);
    attr.ah_attr.roce.dmac[0] = 2;
    attr.ah_attr.grh.traffic_class = traffic_class;
    ASSERT_EQ(ib_modify_qp(qp, &attr, 0x129181), 0);
    attr.qp_state = IB_QPS_RTS;
    ASSERT_EQ(ib_modify_qp(qp, &attr, 0x12e01), 0);
  }

  // Moves a UD, RC or UC queue pair up to `state`; those of connections to `peer`.
  void bring_to(ib_qp* qp, ib_qp_state state, const ib_qp* peer = nullptr) {
    const bool ud = qp->qp_type == IB_QPT_UD;
    const bool uc = qp->qp_type == IB_QPT_UC;
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_INIT;
    attr.port_num = 1;
    attr.qkey = kQkey;
    attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_LOCAL_WRITE |
                           IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_FLUSH_GLOBAL |
                           IB_ACCESS_FLUSH_PERSISTENT;
    ASSERT_EQ(ib_modify_qp(qp, &attr, ud ? 0x71 : 0x39), 0);
    if (state == IB_QPS_INIT) return;
    attr.qp_state = IB_QPS_RTR;
    attr.path_mtu = IB_MTU_1024;
    attr.dest_qp_num = peer != nullptr ? peer->qp_num : 0;
    attr.rq_psn = 100;
    attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = 1;
    attr.ah_attr = to(device::kTestIpv4);
    ASSERT_EQ(ib_modify_qp(qp, &attr, ud ? 0x1 : uc ? 0x101181 : 0x129181), 0);
    if (state == IB_QPS_RTR) return;
    attr.qp_state = IB_QPS_RTS;
    attr.sq_psn = 100;
    attr.timeout = 10;
    attr.retry_cnt = 3;
    attr.rnr_retry = 3;
    attr.max_rd_atomic = 4;
    ASSERT_EQ(ib_modify_qp(qp, &attr, ud || uc ? 0x10001 : 0x12e01), 0);
  }
  // Two queue pairs, connected.
  std::pair<ib_qp*, ib_qp*> connected(ib_qp_type type = IB_QPT_RC) {
    ib_qp* a = make(type);
    ib_qp* b = make(type);
    bring_to(a, IB_QPS_RTS, b);
    bring_to(b, IB_QPS_RTS, a);
    return {a, b};
  }

  ib_sge piece(const void* memory, __u32 length) const {
    return {.addr = reinterpret_cast<__u64>(memory), .length = length, .lkey = pd_->local_dma_lkey};
  }
  int post_recv(ib_qp* qp, void* memory, __u32 length, __u64 id) {
    ib_sge sge = piece(memory, length);
    ib_recv_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    const ib_recv_wr* bad = nullptr;
    return ib_post_recv(qp, &wr, &bad);
  }
  int post_send(ib_qp* qp, const void* memory, __u32 length, __u64 id,
                int flags = IB_SEND_SIGNALED) {
    ib_sge sge = piece(memory, length);
    ib_send_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IB_WR_SEND;
    wr.send_flags = flags;
    const ib_send_wr* bad = nullptr;
    return ib_post_send(qp, &wr, &bad);
  }
  int post_datagram(ib_qp* qp, ib_ah* ah, __u32 qpn, const void* memory, __u32 length, __u64 id,
                    int flags = IB_SEND_SIGNALED) {
    ib_sge sge = piece(memory, length);
    ib_ud_wr wr{};
    wr.wr.wr_id = id;
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.wr.opcode = IB_WR_SEND;
    wr.wr.send_flags = flags;
    wr.ah = ah;
    wr.remote_qpn = qpn;
    wr.remote_qkey = kQkey;
    const ib_send_wr* bad = nullptr;
    return ib_post_send(qp, &wr.wr, &bad);
  }
  std::vector<ib_wc> poll(int count = 64) {
    std::vector<ib_wc> entries(static_cast<size_t>(count));
    const int got = ib_poll_cq(cq_, count, entries.data());
    EXPECT_GE(got, 0);
    entries.resize(static_cast<size_t>(got < 0 ? 0 : got));
    return entries;
  }
  std::vector<ib_wc> settle_and_poll() {
    bed_.settle();
    return poll();
  }

  device::TestBed bed_;
  ib_device* ibdev_ = nullptr;
  ib_pd* pd_ = nullptr;
  ib_cq* cq_ = nullptr;
  int completion_events_ = 0;
  std::vector<ib_event_type> cq_events_;
  std::vector<ib_qp*> qps_;
  std::vector<ib_ah*> ahs_;
  std::array<uint8_t, 8192> memory_{};
};

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_FACE_FIXTURE_H
