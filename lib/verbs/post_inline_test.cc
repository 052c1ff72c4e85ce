// SPDX-License-Identifier: BSD-3-Clause
// Tests of inline data in several pieces: measured together, sent in its order.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "verbs/face_fixture.h"
#include "wire/parse.h"

namespace uroce::verbs {
namespace {

// Case 35: pieces that each fit are measured together, for every kind of request.
class InlineList : public FaceTest {
 protected:
  InlineList() {
    ib_qp_init_attr attr = init(IB_QPT_RC);
    attr.cap.max_send_sge = 3;
    attr.cap.max_inline_data = 64;
    rc_ = ib_create_qp(pd_, &attr);
    EXPECT_FALSE(IS_ERR(rc_));
    attr.qp_type = IB_QPT_UD;
    ud_ = ib_create_qp(pd_, &attr);
    EXPECT_FALSE(IS_ERR(ud_));
    connect_out(rc_);
    bring_to(ud_, IB_QPS_RTS);
    for (size_t i = 0; i < 200; ++i) memory_[i] = static_cast<uint8_t>(i);
    bed_.settle(10);
    bed_.wire.clear();
  }
  ~InlineList() override {
    EXPECT_EQ(ib_destroy_qp(rc_), 0);
    EXPECT_EQ(ib_destroy_qp(ud_), 0);
  }
  using Pieces = std::vector<std::pair<size_t, __u32>>;  // where in memory_, and how long
  int post(ib_wr_opcode opcode, const Pieces& pieces, ib_ah* ah = nullptr) {
    std::vector<ib_sge> list;
    list.reserve(pieces.size());
    for (const auto& [offset, length] : pieces) list.push_back(piece(&memory_[offset], length));
    for (ib_sge& sge : list) sge.lkey = 0;  // of no meaning
    ib_ud_wr datagram{};
    ib_rdma_wr connected{};
    ib_send_wr& wr = ah != nullptr ? datagram.wr : connected.wr;
    datagram.ah = ah;
    wr.sg_list = list.data();
    wr.num_sge = static_cast<int>(list.size());
    wr.opcode = opcode;
    wr.send_flags = IB_SEND_INLINE;
    bad_ = nullptr;
    const int error = ib_post_send(ah != nullptr ? ud_ : rc_, &wr, &bad_);
    EXPECT_EQ(bad_, error != 0 ? &wr : nullptr);
    return error;
  }
  // What each packet carried since the last call.
  std::vector<std::vector<uint8_t>> sent() {
    bed_.settle(10);
    std::vector<std::vector<uint8_t>> payloads;
    for (const auto& frame : std::exchange(bed_.wire, {})) {
      wire::ParsedFrame parsed{};
      EXPECT_EQ(wire::parse_roce(frame, {}, parsed), wire::Drop::kNone);
      payloads.emplace_back(parsed.payload, parsed.payload + parsed.payload_length);
    }
    return payloads;
  }

  ib_qp* rc_ = nullptr;
  ib_qp* ud_ = nullptr;
  const ib_send_wr* bad_ = nullptr;
};

TEST_F(InlineList, IsCountedAsAWholeAndSentInItsOrder) {
  const std::pair<ib_wr_opcode, ib_ah*> kinds[] = {{IB_WR_SEND, nullptr},
                                                   {IB_WR_RDMA_WRITE, nullptr},
                                                   {IB_WR_SEND, handle_to(device::kTestGroup)}};
  using Payloads = std::vector<std::vector<uint8_t>>;
  for (const auto& [opcode, ah] : kinds) {
    EXPECT_EQ(post(opcode, {{0, 30}, {30, 30}, {60, 30}}, ah), -EINVAL);
    EXPECT_EQ(sent(), Payloads{}) << "nothing of it is sent";
    EXPECT_EQ(post(opcode, {{100, 32}, {40, 32}}, ah), 0);
    std::vector<uint8_t> wanted(&memory_[100], &memory_[132]);
    wanted.insert(wanted.end(), &memory_[40], &memory_[72]);
    EXPECT_EQ(sent(), Payloads{wanted});
    EXPECT_EQ(post(opcode, {{7, 1}, {0, 0}, {9, 1}}, ah), 0);
    EXPECT_EQ(sent(), (Payloads{{7, 9}}));
    EXPECT_EQ(post(opcode, {}, ah), 0);
    EXPECT_EQ(sent(), Payloads{{}}) << "one packet without data";
  }
}

}  // namespace
}  // namespace uroce::verbs
