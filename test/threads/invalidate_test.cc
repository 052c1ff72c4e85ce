// SPDX-License-Identifier: BSD-3-Clause
// Keys taken back by work requests on one engine while a peer writes through another: when the
// completion has been seen, nobody writes the memory any more.
#include <gtest/gtest.h>

#include "test/threads/bed.h"
#include "verbs/handles.h"

namespace uroce::threads {
namespace {

uint32_t engine_of(ib_qp* qp) { return verbs::of(qp).handle.object->engine; }

// `writer` writes into memory of `owner`'s domain, through a queue pair of that domain; `owner`
// itself lives on the other engine.
class Invalidate : public testing::Test {
 protected:
  static constexpr int kAccess = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;

  Invalidate() : memory_(4096) {
    pd_ = ib_alloc_pd(bed_.device(), 0);
    const ib_cq_init_attr attr{.cqe = 256, .comp_vector = 0, .flags = 0};
    cq_ = ib_create_cq(bed_.device(), nullptr, nullptr, nullptr, &attr);
    mr_ = ib_alloc_mr(pd_, IB_MR_TYPE_MEM_REG, 1);
    scatterlist piece{reinterpret_cast<__u64>(memory_.data()), 4096};
    EXPECT_EQ(ib_map_mr_sg(mr_, &piece, 1, nullptr, 4096), 1);
    owner_ = make();
    connect(owner_, owner_->qp_num);
  }
  ~Invalidate() override {
    for (ib_qp* qp : qps_) EXPECT_EQ(ib_destroy_qp(qp), 0);
    EXPECT_EQ(ib_dereg_mr(mr_), 0);
    EXPECT_EQ(ib_destroy_cq(cq_), 0);
    EXPECT_EQ(ib_dealloc_pd(pd_), 0);
  }
  ib_qp* make() {
    ib_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.qp_type = IB_QPT_RC;
    attr.sq_sig_type = IB_SIGNAL_ALL_WR;
    attr.cap = {16, 16, 1, 1, 0, 0};
    ib_qp* qp = ib_create_qp(pd_, &attr);
    EXPECT_FALSE(IS_ERR(qp));
    qps_.push_back(qp);
    return qp;
  }
  // A queue pair of the domain on the engine that is not the owner's.
  ib_qp* make_on_other_engine() {
    for (int i = 0; i < 20; ++i) {
      ib_qp* qp = make();
      if (engine_of(qp) != engine_of(owner_)) return qp;
    }
    ADD_FAILURE() << "no queue pair on the other engine";
    return nullptr;
  }
  static void connect(ib_qp* qp, uint32_t peer_qpn) {
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE;
    EXPECT_EQ(ib_modify_qp(qp, &attr, 0x39), 0);
    attr.qp_state = IB_QPS_RTR;
    attr.path_mtu = IB_MTU_1024;
    attr.dest_qp_num = peer_qpn;
    attr.min_rnr_timer = 1;
    attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
    ib_gid raw = gid_of(device::kTestIpv4);
    rdma_ah_set_grh(&attr.ah_attr, &raw, 0, 1, 64, 0);
    rdma_ah_set_port_num(&attr.ah_attr, 1);
    EXPECT_EQ(ib_modify_qp(qp, &attr, 0x129181), 0);
    attr.qp_state = IB_QPS_RTS;
    attr.timeout = 18;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    EXPECT_EQ(ib_modify_qp(qp, &attr, 0x12e01), 0);
  }
  // Posts to the owner and waits for the completion of that request.
  void run(ib_send_wr& wr, uint64_t id) {
    wr.wr_id = id;
    ASSERT_EQ(ib_post_send(owner_, &wr, nullptr), 0);
    ib_wc wc{};
    ASSERT_TRUE(eventually([&] {
      while (ib_poll_cq(cq_, 1, &wc) == 1) {
        if (wc.qp == owner_) return true;
      }
      return false;
    }));
    ASSERT_EQ(wc.status, IB_WC_SUCCESS);
  }

  Bed bed_{engine::DriveMode::kWorker};
  std::vector<uint8_t> memory_;
  ib_pd* pd_ = nullptr;
  ib_cq* cq_ = nullptr;
  ib_mr* mr_ = nullptr;
  ib_qp* owner_ = nullptr;
  std::vector<ib_qp*> qps_;
};

TEST_F(Invalidate, MemoryIsNotWrittenAnyMoreWhenLocalInvalidationHasCompleted) {
  for (uint64_t round = 1; round <= 40; ++round) {
    ib_reg_wr registration{};
    registration.wr.opcode = IB_WR_REG_MR;
    registration.mr = mr_;
    registration.key = mr_->rkey;
    registration.access = kAccess;
    run(registration.wr, round);
    End writer(bed_, IB_QPT_RC);
    ib_qp* target = make_on_other_engine();
    ASSERT_NE(target, nullptr);
    connect(target, writer.qp()->qp_num);
    std::atomic<bool> failed{false};
    std::atomic<uint64_t> done{0};
    writer.connect_to(target->qp_num);
    const Target to{reinterpret_cast<uint64_t>(memory_.data()), mr_->rkey};
    std::thread poster([&] {
      while (!failed.load(std::memory_order_relaxed)) {
        if (!writer.post_write(to)) std::this_thread::yield();
        for (const ib_wc& wc : writer.poll()) {
          if (wc.status != IB_WC_SUCCESS) failed.store(true, std::memory_order_relaxed);
          done.fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
    EXPECT_TRUE(eventually([&] { return done.load(std::memory_order_relaxed) > 20; }));
    ib_send_wr invalidation{};
    invalidation.opcode = IB_WR_LOCAL_INV;
    invalidation.ex.invalidate_rkey = mr_->rkey;
    run(invalidation, round);
    // ThreadSanitizer sees who else writes there.
    std::fill(memory_.begin(), memory_.end(), static_cast<uint8_t>(0xEE));
    poster.join();
    EXPECT_TRUE(std::all_of(memory_.begin(), memory_.end(), [](uint8_t b) { return b == 0xEE; }));
    ib_update_fast_reg_key(mr_, static_cast<__u8>(ib_inc_rkey(mr_->rkey)));
    while (qps_.size() > 1) {
      EXPECT_EQ(ib_destroy_qp(qps_.back()), 0);
      qps_.pop_back();
    }
  }
}

}  // namespace
}  // namespace uroce::threads
