// SPDX-License-Identifier: BSD-3-Clause
// For tests: a connection, regions and windows, and the work requests about them.
#ifndef UROCE_VERBS_KEY_WORK_FIXTURE_H
#define UROCE_VERBS_KEY_WORK_FIXTURE_H

#include <tuple>

#include "verbs/face_fixture.h"

namespace uroce::verbs {

// `left_` and `right_` are connected. Regions and windows are of memory_; right_'s side owns them
// and left_ is the peer that uses them.
class KeyWorkTest : public FaceTest {
 protected:
  static constexpr int kAll =
      IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;

  explicit KeyWorkTest(const device::TestBedOptions& options = {}) : FaceTest(options) {
    std::tie(left_, right_) = connected();
  }
  __u64 address(size_t offset) const { return reinterpret_cast<__u64>(memory_.data()) + offset; }
  ib_mr* reg(int access, size_t offset = 0, __u64 length = 4096) {
    ib_mr* mr = ib_reg_user_mr(pd_, address(offset), length, address(offset), access);
    EXPECT_FALSE(IS_ERR(mr)) << PTR_ERR(mr);
    return mr;
  }
  // A fast region with 4096 bytes mapped.
  ib_mr* fast(size_t offset = 0) {
    ib_mr* mr = ib_alloc_mr(pd_, IB_MR_TYPE_MEM_REG, 4);
    EXPECT_FALSE(IS_ERR(mr)) << PTR_ERR(mr);
    map(mr, offset);
    return mr;
  }
  void map(ib_mr* mr, size_t offset) {
    scatterlist pieces[2] = {{address(offset), 1024}, {address(offset) + 1024, 3072}};
    EXPECT_EQ(ib_map_mr_sg(mr, pieces, 2, nullptr, 4096), 2);
  }
  static int post(ib_qp* qp, ib_send_wr& wr, int flags = IB_SEND_SIGNALED) {
    wr.send_flags = flags;
    const ib_send_wr* bad = nullptr;
    return ib_post_send(qp, &wr, &bad);
  }
  int post_reg(ib_mr* mr, __u32 key, int access = kAll, int flags = IB_SEND_SIGNALED) {
    ib_reg_wr wr{};
    wr.wr.opcode = IB_WR_REG_MR;
    wr.mr = mr;
    wr.key = key;
    wr.access = access;
    return post(right_, wr.wr, flags);
  }
  int post_bind(ib_mw* mw, __u32 rkey, ib_mr* mr, size_t offset, __u64 length,
                int access = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ) {
    ib_bind_mw_wr wr{};
    wr.wr.opcode = IB_WR_BIND_MW;
    wr.mw = mw;
    wr.rkey = rkey;
    wr.bind_info = {.mr = mr, .addr = address(offset), .length = length, .mw_access_flags = access};
    return post(right_, wr.wr);
  }
  int post_invalidate(__u32 key) {
    ib_send_wr wr{};
    wr.opcode = IB_WR_LOCAL_INV;
    wr.ex.invalidate_rkey = key;
    return post(right_, wr);
  }
  // Status of the one completion that comes.
  ib_wc_status outcome() {
    const std::vector<ib_wc> done = settle_and_poll();
    EXPECT_EQ(done.size(), 1u);
    return done.empty() ? IB_WC_GENERAL_ERR : done[0].status;
  }
  // The peer writes 8 bytes from the end of memory_.
  ib_wc_status write(__u32 rkey, __u64 to) {
    std::fill_n(memory_.end() - 8, 8, __u8{0x5A});
    ib_sge sge = piece(memory_.data() + memory_.size() - 8, 8);
    ib_rdma_wr wr{};
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.wr.opcode = IB_WR_RDMA_WRITE;
    wr.remote_addr = to;
    wr.rkey = rkey;
    EXPECT_EQ(post(left_, wr.wr), 0);
    return outcome();
  }
  ib_wc_status write_at(__u32 rkey, size_t offset) { return write(rkey, address(offset)); }

  ib_qp* left_ = nullptr;
  ib_qp* right_ = nullptr;
};

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_KEY_WORK_FIXTURE_H
