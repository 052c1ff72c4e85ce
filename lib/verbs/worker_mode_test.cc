// SPDX-License-Identifier: BSD-3-Clause
// The native face in worker mode, with real threads: two that post on one queue pair, one that
// polls, one that makes control calls, one that plays the worker.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class WorkerBed {
 protected:
  WorkerBed() : bed_(device::TestBedOptions{.mode = engine::DriveMode::kWorker}) {
    bed_.on_event = dispatch_event;
    worker_ = std::thread([this] {
      while (!stop_.load()) {
        bed_.work();
        std::this_thread::yield();
      }
    });
  }
  ~WorkerBed() {
    stop_ = true;
    worker_.join();
  }
  device::TestBed bed_;

 private:
  std::atomic<bool> stop_{false};
  std::thread worker_;
};

class WorkerMode : public WorkerBed, public testing::Test {
 protected:
  static constexpr __u64 kMessages = 400;  // of each posting thread

  WorkerMode() {
    ibdev_ = open_device(bed_.device());
    EXPECT_EQ(bed_.device().start(), 0);
    pd_ = ib_alloc_pd(ibdev_, 0);
    const ib_cq_init_attr attr{.cqe = 4096, .comp_vector = 0, .flags = 0};
    cq_ = ib_create_cq(
        ibdev_, [](ib_cq*, void* count) { ++*static_cast<std::atomic<int>*>(count); }, nullptr,
        &notified_, &attr);
    ib_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_;
    init.qp_type = IB_QPT_UD;
    init.cap = {.max_send_wr = 16,
                .max_recv_wr = 16,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 64,
                .max_rdma_ctxs = 0};
    qp_ = ib_create_qp(pd_, &init);
    ib_qp_attr change{};
    change.qp_state = IB_QPS_INIT;
    change.port_num = 1;
    EXPECT_EQ(ib_modify_qp(qp_, &change, 0x71), 0);
    change.qp_state = IB_QPS_RTR;
    EXPECT_EQ(ib_modify_qp(qp_, &change, IB_QP_STATE), 0);
    change.qp_state = IB_QPS_RTS;
    EXPECT_EQ(ib_modify_qp(qp_, &change, IB_QP_STATE | IB_QP_SQ_PSN), 0);
    rdma_ah_attr to{};
    rdma_ah_set_port_num(&to, 1);
    ib_gid gid;
    from_gid(device::kTestIpv4, gid);
    rdma_ah_set_grh(&to, &gid, 0, 1, 64, 0);
    ah_ = rdma_create_ah(pd_, &to, 0);
    EXPECT_FALSE(IS_ERR(ah_));
  }
  ~WorkerMode() override {
    EXPECT_EQ(ib_destroy_qp(qp_), 0);
    EXPECT_EQ(rdma_destroy_ah(ah_, 0), 0);
    EXPECT_EQ(ib_destroy_cq(cq_), 0);
    EXPECT_EQ(ib_dealloc_pd(pd_), 0);
    close_device(ibdev_);
  }

  void post_all(__u64 first_id) {
    uint64_t data = first_id;
    ib_sge sge{.addr = reinterpret_cast<__u64>(&data), .length = 8, .lkey = 0};
    ib_ud_wr wr{};
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.wr.opcode = IB_WR_SEND;
    wr.wr.send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE;
    wr.ah = ah_;
    wr.remote_qpn = 0x77;  // nobody's: a named drop
    for (__u64 i = 0; i < kMessages;) {
      wr.wr.wr_id = first_id + i;
      const int error = ib_post_send(qp_, &wr.wr, nullptr);
      if (error == 0) {
        ++i;
      } else {
        ASSERT_EQ(error, -ENOMEM);
        std::this_thread::yield();
      }
    }
  }

  std::atomic<int> notified_{0};
  ib_device* ibdev_ = nullptr;
  ib_pd* pd_ = nullptr;
  ib_cq* cq_ = nullptr;
  ib_qp* qp_ = nullptr;
  ib_ah* ah_ = nullptr;
};

TEST_F(WorkerMode, EveryRequestOfEveryThreadCompletesOnceInItsThreadsOrder) {
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_NEXT_COMP), 0);
  std::thread first([this] { post_all(0); });
  std::thread second([this] { post_all(1u << 20); });
  std::atomic<bool> done{false};
  std::thread control([&] {
    rdma_ah_attr attr{};
    EXPECT_EQ(rdma_query_ah(ah_, &attr), 0);
    while (!done) {
      uint8_t memory[64];
      const auto address = reinterpret_cast<__u64>(memory);
      ib_mr* mr = ib_reg_user_mr(pd_, address, sizeof memory, address, IB_ACCESS_LOCAL_WRITE);
      EXPECT_FALSE(IS_ERR(mr));
      EXPECT_EQ(rdma_modify_ah(ah_, &attr), 0);
      EXPECT_EQ(ib_dereg_mr(mr), 0);
    }
  });
  __u64 next[2] = {0, 1u << 20};
  for (__u64 polled = 0; polled < 2 * kMessages;) {
    ib_wc wc[8];
    const int count = ib_poll_cq(cq_, 8, wc);
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(wc[i].status, IB_WC_SUCCESS);
      EXPECT_EQ(wc[i].wr_id, next[wc[i].wr_id >> 20]++);
    }
    polled += static_cast<__u64>(count);
    if (count == 0) std::this_thread::yield();
  }
  first.join();
  second.join();
  done = true;
  control.join();
  EXPECT_EQ(notified_.load(), 1);
}

}  // namespace
}  // namespace uroce::verbs
