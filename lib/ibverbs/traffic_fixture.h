// SPDX-License-Identifier: BSD-3-Clause
// For tests of the data path: registered memory, requests of one piece, polling until it is there.
#ifndef UROCE_IBVERBS_TRAFFIC_FIXTURE_H
#define UROCE_IBVERBS_TRAFFIC_FIXTURE_H

#include <cstring>
#include <string_view>
#include <vector>

#include "ibverbs/data_path.h"
#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {

class TrafficTest : public QueuesTest {
 protected:
  explicit TrafficTest(const device::TestBedOptions& options = {}) : QueuesTest(options) {
    mr_ = (ibv_reg_mr)(pd_, memory_.data(), memory_.size(),
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
    EXPECT_NE(mr_, nullptr);
  }
  ~TrafficTest() override { EXPECT_EQ(ibv_dereg_mr(mr_), 0); }

  uint64_t address(size_t offset) const {
    return reinterpret_cast<uint64_t>(memory_.data() + offset);
  }
  ibv_sge piece(size_t offset, uint32_t length) const {
    return {.addr = address(offset), .length = length, .lkey = mr_->lkey};
  }
  void put(size_t offset, std::string_view text) {
    std::memcpy(memory_.data() + offset, text.data(), text.size());
  }
  std::string_view text(size_t offset, size_t length) const {
    return {reinterpret_cast<const char*>(memory_.data() + offset), length};
  }

  // A queue pair with all builders that its type has; destroyed with the fixture.
  ibv_qp* make_builder(ibv_qp_type type, uint64_t send_ops_flags) {
    const ibv_qp_init_attr plain = init(type);
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = plain.send_cq;
    attr.recv_cq = plain.recv_cq;
    attr.cap = plain.cap;
    attr.qp_type = type;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attr.pd = pd_;
    attr.send_ops_flags = send_ops_flags;
    ibv_qp* const qp = ibv_create_qp_ex(context_, &attr);
    EXPECT_NE(qp, nullptr) << errno;
    if (qp != nullptr) qps_.push_back(qp);
    return qp;
  }

  static int post_recv(ibv_qp* qp, ibv_sge sge, uint64_t id) {
    ibv_recv_wr wr{.wr_id = id, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    return ibv_post_recv(qp, &wr, &bad);
  }
  static int post_shared(ibv_srq* srq, ibv_sge sge, uint64_t id) {
    ibv_recv_wr wr{.wr_id = id, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    return ibv_post_srq_recv(srq, &wr, &bad);
  }
  // A signaled request of this opcode with one piece; the piece stays the caller's.
  static ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge& sge, uint64_t id = 1) {
    ibv_send_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    return wr;
  }
  static int post(ibv_qp* qp, ibv_send_wr& wr) {
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(qp, &wr, &bad);
  }

  // Nothing but polling moves anything.
  static std::vector<ibv_wc> poll(ibv_cq* cq, size_t count) {
    std::vector<ibv_wc> done;
    done.reserve(count);
    for (int turns = 0; turns < 3000 && done.size() < count; ++turns) {
      ibv_wc wc{};
      const int got = ibv_poll_cq(cq, 1, &wc);
      EXPECT_GE(got, 0);
      if (got == 1) done.push_back(wc);
    }
    EXPECT_EQ(done.size(), count);
    return done;
  }
  // Exactly one, of success.
  ibv_wc poll_one() {
    const std::vector<ibv_wc> done = poll(cq_, 1);
    if (done.empty()) return {};
    EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
    return done[0];
  }
  // One completion of a send and one of a receive, in any order: the latter.
  ibv_wc poll_both() {
    ibv_wc received{};
    for (const ibv_wc& wc : poll(cq_, 2)) {
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
      if ((wc.opcode & IBV_WC_RECV) != 0) received = wc;
    }
    return received;
  }
  static const transport::SendWqe& wqe(ibv_qp* qp, uint32_t index) {
    return of(qp).handle.queues->send.wqe(index);
  }
  static uint32_t sends_posted(ibv_qp* qp) { return of(qp).handle.queues->send.producer.load(); }

  ibv_mr* mr_ = nullptr;
};

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_TRAFFIC_FIXTURE_H
