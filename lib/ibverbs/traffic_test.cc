// SPDX-License-Identifier: BSD-3-Clause
// Tests of real traffic through every call of the data path, between queue pairs of one device.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

#include "ibverbs/traffic_fixture.h"

namespace uroce::ibverbs {
namespace {

constexpr uint64_t kEverything =
    (uint64_t{IBV_QP_EX_WITH_SEND_WITH_INV} << 1) - 1 + IBV_QP_EX_WITH_ATOMIC_WRITE;

// Requests of one signaled piece, the first bytes of the memory, by either call; the parameter: by
// builders.
class RequestTest : public TrafficTest, public testing::WithParamInterface<bool> {
 protected:
  struct Remote {
    uint64_t address = 0;
    uint32_t rkey = 0;
  };
  ibv_qp* make_end(ibv_qp_type type, uint64_t flags) {
    return GetParam() ? make_builder(type, flags) : make(type);
  }
  std::pair<ibv_qp*, ibv_qp*> ends(ibv_qp_type type, uint64_t flags = kEverything) {
    ibv_qp* const a = make_end(type, flags);
    ibv_qp* const b = make(type);
    bring_to(a, IBV_QPS_RTS, b->qp_num);
    bring_to(b, IBV_QPS_RTS, a->qp_num);
    return {a, b};
  }
  // Completes the building of `qp` with the usual data.
  int finish(ibv_qp_ex* qp, bool with_data = true) const {
    if (with_data) ibv_wr_set_sge(qp, mr_->lkey, address(0), bytes_);
    return ibv_wr_complete(qp);
  }
  ibv_qp_ex* start(ibv_qp* qp) const {
    ibv_qp_ex* const built = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(built);
    built->wr_id = 1;
    built->wr_flags = IBV_SEND_SIGNALED;
    return built;
  }
  ibv_send_wr plain(ibv_wr_opcode opcode) {
    sge_ = piece(0, bytes_);
    return request(opcode, sge_);
  }

  int send(ibv_qp* qp, ibv_wr_opcode opcode, uint32_t immediate = 0) {
    if (!GetParam()) {
      ibv_send_wr wr = plain(opcode);
      wr.imm_data = immediate;
      return post(qp, wr);
    }
    ibv_qp_ex* const built = start(qp);
    if (opcode == IBV_WR_SEND) ibv_wr_send(built);
    if (opcode == IBV_WR_SEND_WITH_IMM) ibv_wr_send_imm(built, immediate);
    if (opcode == IBV_WR_SEND_WITH_INV) ibv_wr_send_inv(built, immediate);
    return finish(built);
  }
  int rdma(ibv_qp* qp, ibv_wr_opcode opcode, const Remote& remote, uint32_t immediate = 0) {
    if (!GetParam()) {
      ibv_send_wr wr = plain(opcode);
      wr.imm_data = immediate;
      wr.wr.rdma = {.remote_addr = remote.address, .rkey = remote.rkey};
      return post(qp, wr);
    }
    ibv_qp_ex* const built = start(qp);
    if (opcode == IBV_WR_RDMA_READ) ibv_wr_rdma_read(built, remote.rkey, remote.address);
    if (opcode == IBV_WR_RDMA_WRITE) ibv_wr_rdma_write(built, remote.rkey, remote.address);
    if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
      ibv_wr_rdma_write_imm(built, remote.rkey, remote.address, immediate);
    }
    if (opcode != IBV_WR_ATOMIC_WRITE) return finish(built);
    ibv_wr_atomic_write(built, remote.rkey, remote.address, memory_.data());
    return finish(built, false);
  }
  int atomic(ibv_qp* qp, ibv_wr_opcode opcode, const Remote& word, uint64_t compare_add,
             uint64_t swap) {
    if (!GetParam()) {
      ibv_send_wr wr = plain(opcode);
      wr.wr.atomic = {
          .remote_addr = word.address, .compare_add = compare_add, .swap = swap, .rkey = word.rkey};
      return post(qp, wr);
    }
    ibv_qp_ex* const built = start(qp);
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
      ibv_wr_atomic_cmp_swp(built, word.rkey, word.address, compare_add, swap);
    } else {
      ibv_wr_atomic_fetch_add(built, word.rkey, word.address, compare_add);
    }
    return finish(built);
  }
  int bind(ibv_qp* qp, ibv_mw* mw, uint32_t rkey, const ibv_mw_bind_info& info) {
    if (!GetParam()) {
      ibv_send_wr wr = plain(IBV_WR_BIND_MW);
      wr.num_sge = 0;
      wr.bind_mw.mw = mw;
      wr.bind_mw.rkey = rkey;
      wr.bind_mw.bind_info = info;
      return post(qp, wr);
    }
    ibv_qp_ex* const built = start(qp);
    ibv_wr_bind_mw(built, mw, rkey, &info);
    return finish(built, false);
  }
  int invalidate(ibv_qp* qp, uint32_t rkey) {
    if (!GetParam()) {
      ibv_send_wr wr = plain(IBV_WR_LOCAL_INV);
      wr.num_sge = 0;
      wr.invalidate_rkey = rkey;
      return post(qp, wr);
    }
    ibv_qp_ex* const built = start(qp);
    ibv_wr_local_inv(built, rkey);
    return finish(built, false);
  }
  uint64_t& word(size_t offset) { return *reinterpret_cast<uint64_t*>(memory_.data() + offset); }

  uint32_t bytes_ = 8;  // of the piece
  ibv_sge sge_{};
};

INSTANTIATE_TEST_SUITE_P(Calls, RequestTest, testing::Bool(),
                         [](const auto& chosen) { return chosen.param ? "Built" : "Posted"; });

TEST_P(RequestTest, SendsArriveWithTheirImmediate) {
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC}) {
    const uint64_t flags = type == IBV_QPT_RC
                               ? kEverything
                               : IBV_QP_EX_WITH_SEND | uint64_t{IBV_QP_EX_WITH_SEND_WITH_IMM};
    const auto [a, b] = ends(type, flags);
    put(0, "datasent");
    ASSERT_EQ(post_recv(b, piece(512, 8), 2), 0);
    ASSERT_EQ(send(a, IBV_WR_SEND), 0);
    EXPECT_EQ(poll_both().byte_len, 8u);
    EXPECT_EQ(text(512, 8), "datasent");
    ASSERT_EQ(post_recv(b, piece(512, 8), 2), 0);
    ASSERT_EQ(send(a, IBV_WR_SEND_WITH_IMM, 0x01020304), 0);
    EXPECT_EQ(poll_both().imm_data, 0x01020304u);
  }
}

TEST_P(RequestTest, WritesAndReadsReachTheOthersMemory) {
  const auto [a, b] = ends(IBV_QPT_RC);
  const Remote remote{address(1024), mr_->rkey};
  put(0, "written!");
  ASSERT_EQ(rdma(a, IBV_WR_RDMA_WRITE, remote), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(text(1024, 8), "written!");
  put(1024, "readable");
  ASSERT_EQ(rdma(a, IBV_WR_RDMA_READ, remote), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(text(0, 8), "readable");
  ASSERT_EQ(post_recv(b, piece(512, 8), 2), 0);
  ASSERT_EQ(rdma(a, IBV_WR_RDMA_WRITE_WITH_IMM, remote, 77), 0);
  const ibv_wc received = poll_both();
  EXPECT_EQ(received.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received.imm_data, 77u);
  put(0, "one word");
  ASSERT_EQ(rdma(a, IBV_WR_ATOMIC_WRITE, remote), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_ATOMIC_WRITE);
  EXPECT_EQ(text(1024, 8), "one word");
}

TEST_P(RequestTest, AtomicsChangeTheWordAndReturnTheOldOne) {
  const auto [a, b] = ends(IBV_QPT_RC);
  const Remote remote{address(1024), mr_->rkey};
  word(1024) = 40;
  ASSERT_EQ(atomic(a, IBV_WR_ATOMIC_FETCH_AND_ADD, remote, 2, 0), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_FETCH_ADD);
  EXPECT_EQ(word(0), 40u);
  EXPECT_EQ(word(1024), 42u);
  ASSERT_EQ(atomic(a, IBV_WR_ATOMIC_CMP_AND_SWP, remote, 42, 7), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_COMP_SWAP);
  EXPECT_EQ(word(0), 42u);
  EXPECT_EQ(word(1024), 7u);
}

TEST_P(RequestTest, AnAtomicTakesNoMoreThanAWordOfItsBuffer) {
  const auto [a, b] = ends(IBV_QPT_RC);
  const Remote remote{address(1024), mr_->rkey};
  word(1024) = 40;
  put(8, "untouched");
  bytes_ = 64;
  ASSERT_EQ(atomic(a, IBV_WR_ATOMIC_FETCH_AND_ADD, remote, 2, 0), 0);
  EXPECT_EQ(poll_one().byte_len, 8u);
  EXPECT_EQ(word(0), 40u);
  EXPECT_EQ(text(8, 9), "untouched");
  bytes_ = 7;
  EXPECT_EQ(atomic(a, IBV_WR_ATOMIC_FETCH_AND_ADD, remote, 2, 0), EINVAL);
  EXPECT_EQ(word(1024), 42u);
}

TEST_P(RequestTest, AWindowIsBoundUsedAndInvalidatedFromBothSides) {
  const auto [a, b] = ends(IBV_QPT_RC);
  ibv_mw* const mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(mw, nullptr);
  const ibv_mw_bind_info info{
      .mr = mr_, .addr = address(1024), .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
  uint32_t key = ibv_inc_rkey(mw->rkey);
  ASSERT_EQ(bind(a, mw, key, info), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_BIND_MW);
  ibv_sge sge = piece(0, 8);
  ibv_send_wr write = request(IBV_WR_RDMA_WRITE, sge);
  write.wr.rdma = {.remote_addr = address(1024), .rkey = key};
  put(0, "windowed");
  ASSERT_EQ(post(b, write), 0);
  poll_one();
  EXPECT_EQ(text(1024, 8), "windowed");
  ASSERT_EQ(invalidate(a, key), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_LOCAL_INV);
  key = ibv_inc_rkey(key);
  ASSERT_EQ(bind(a, mw, key, info), 0) << "by any key that it had";
  poll_one();
  ASSERT_EQ(post_recv(a, piece(512, 8), 3), 0);
  ibv_send_wr send = request(IBV_WR_SEND_WITH_INV, sge);
  send.invalidate_rkey = key;
  ASSERT_EQ(post(b, send), 0);
  EXPECT_EQ(poll_both().invalidated_rkey, key);
  write.wr.rdma.rkey = key;
  ASSERT_EQ(post(b, write), 0);
  const std::vector<ibv_wc> refused = poll(cq_, 1);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

TEST_P(RequestTest, ASendInvalidatesThePeersWindow) {
  const auto [a, b] = ends(IBV_QPT_RC);
  ibv_mw* const mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(mw, nullptr);
  ibv_send_wr bound = plain(IBV_WR_BIND_MW);
  bound.num_sge = 0;
  bound.bind_mw.mw = mw;
  bound.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  bound.bind_mw.bind_info = {
      .mr = mr_, .addr = address(1024), .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_READ};
  ASSERT_EQ(post(b, bound), 0);
  poll_one();
  ASSERT_EQ(post_recv(b, piece(512, 8), 2), 0);
  ASSERT_EQ(send(a, IBV_WR_SEND_WITH_INV, bound.bind_mw.rkey), 0);
  const ibv_wc received = poll_both();
  EXPECT_NE(received.wc_flags & IBV_WC_WITH_INV, 0u);
  EXPECT_EQ(received.invalidated_rkey, bound.bind_mw.rkey);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

TEST_F(TrafficTest, ABuiltDatagramArrivesWithItsHeader) {
  ibv_qp* const a = make_builder(IBV_QPT_UD, IBV_QP_EX_WITH_SEND_WITH_IMM);
  ibv_qp* const b = make(IBV_QPT_UD);
  for (ibv_qp* const qp : {a, b}) bring_to(qp, IBV_QPS_RTS);
  ibv_ah_attr attr = to(device::kTestIpv4);
  ibv_ah* const ah = ibv_create_ah(pd_, &attr);
  ASSERT_NE(ah, nullptr);
  ASSERT_EQ(post_recv(b, piece(512, 100), 2), 0);
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(a);
  ibv_wr_start(qp);
  qp->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send_imm(qp, 9);
  ibv_wr_set_ud_addr(qp, ah, b->qp_num, kTestQkey);
  char datagram[] = "datagram";
  ibv_wr_set_inline_data(qp, datagram, 8);
  ASSERT_EQ(ibv_wr_complete(qp), 0);
  const ibv_wc received = poll_both();
  EXPECT_EQ(received.imm_data, 9u);
  EXPECT_EQ(received.byte_len, 48u);
  EXPECT_EQ(text(552, 8), "datagram");
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

// The receive is taken from the queue that the request names, and completes on that one's CQ.
TEST_F(TrafficTest, XrcReachesTheSharedReceiveQueueThatIsNamed) {
  ibv_xrcd_init_attr domain{};
  domain.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  domain.fd = -1;
  domain.oflags = O_CREAT;
  ibv_xrcd* const xrcd = ibv_open_xrcd(context_, &domain);
  ASSERT_NE(xrcd, nullptr);
  ibv_srq_init_attr_ex shared{};
  shared.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
  shared.comp_mask =
      IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  shared.srq_type = IBV_SRQT_XRC;
  shared.pd = pd_;
  shared.xrcd = xrcd;
  shared.cq = cq_;
  ibv_srq* const srq = ibv_create_srq_ex(context_, &shared);
  ASSERT_NE(srq, nullptr);
  uint32_t number = 0;
  ASSERT_EQ(ibv_get_srq_num(srq, &number), 0);
  ibv_qp_init_attr_ex target{};
  target.qp_type = IBV_QPT_XRC_RECV;
  target.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  target.xrcd = xrcd;
  ibv_qp* const receiver = ibv_create_qp_ex(context_, &target);
  ASSERT_NE(receiver, nullptr);
  ibv_qp* const sender = make_builder(IBV_QPT_XRC_SEND, kEverything);
  bring_to(receiver, IBV_QPS_RTR, sender->qp_num);
  bring_to(sender, IBV_QPS_RTS, receiver->qp_num);

  put(0, "postedto");
  ASSERT_EQ(post_shared(srq, piece(512, 8), 2), 0);
  ibv_sge sge = piece(0, 8);
  ibv_send_wr wr = request(IBV_WR_SEND, sge);
  wr.qp_type.xrc.remote_srqn = number;
  ASSERT_EQ(post(sender, wr), 0);
  EXPECT_EQ(poll_both().qp_num, receiver->qp_num);
  EXPECT_EQ(text(512, 8), "postedto");
  ASSERT_EQ(post_shared(srq, piece(512, 8), 2), 0);
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(sender);
  ibv_wr_start(qp);
  qp->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send(qp);
  ibv_wr_set_xrc_srqn(qp, number);
  char built[] = "built to";
  ibv_wr_set_inline_data(qp, built, 8);
  ASSERT_EQ(ibv_wr_complete(qp), 0);
  poll_both();
  EXPECT_EQ(text(512, 8), "built to");
  EXPECT_EQ(post(receiver, wr), EINVAL) << "a target sends nothing";
  EXPECT_EQ(post_recv(receiver, sge, 1), EINVAL) << "and has no receives of its own";
  EXPECT_EQ(ibv_destroy_qp(receiver), 0);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  EXPECT_EQ(ibv_close_xrcd(xrcd), 0);
}

class SharedTest : public TrafficTest {
 protected:
  SharedTest() {
    EXPECT_EQ(fcntl(context_->async_fd, F_SETFL, O_NONBLOCK), 0);
    ibv_srq_init_attr attr{};
    attr.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
    srq_ = ibv_create_srq(pd_, &attr);
    EXPECT_NE(srq_, nullptr);
    ibv_qp_init_attr shares = init(IBV_QPT_RC);
    shares.srq = srq_;
    receiver_ = make(shares);
    sender_ = make(IBV_QPT_RC);
    bring_to(sender_, IBV_QPS_RTS, receiver_->qp_num);
    bring_to(receiver_, IBV_QPS_RTR, sender_->qp_num);
  }
  ~SharedTest() override {
    for (ibv_qp* const qp : {sender_, receiver_}) {
      forget(qp);
      EXPECT_EQ(ibv_destroy_qp(qp), 0);
    }
    EXPECT_EQ(ibv_destroy_srq(srq_), 0);
  }
  // The next asynchronous event, acknowledged.
  std::optional<ibv_async_event> next_event() {
    ibv_async_event event{};
    if (ibv_get_async_event(context_, &event) != 0) {
      EXPECT_EQ(errno, EAGAIN);
      return std::nullopt;
    }
    ibv_ack_async_event(&event);
    return event;
  }
  void expect_event(ibv_event_type type, const void* object) {
    const std::optional<ibv_async_event> event = next_event();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->event_type, type);
    EXPECT_EQ(static_cast<const void*>(event->element.qp), object);
  }
  void send_one() {
    ibv_sge sge = piece(0, 8);
    ibv_send_wr wr = request(IBV_WR_SEND, sge);
    ASSERT_EQ(post(sender_, wr), 0);
    poll_both();
  }

  ibv_srq* srq_ = nullptr;
  ibv_qp* sender_ = nullptr;
  ibv_qp* receiver_ = nullptr;
};

TEST_F(SharedTest, AFullSharedQueueIsNoMemoryAndAQueuePairOfItTakesNoReceives) {
  for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_shared(srq_, piece(512, 8), i), 0);
  EXPECT_EQ(post_shared(srq_, piece(512, 8), 4), ENOMEM);
  EXPECT_EQ(post_recv(receiver_, piece(512, 8), 1), EINVAL);
}

TEST_F(SharedTest, EventsOfQueuePairAndSharedQueueReachTheProgram) {
  EXPECT_FALSE(next_event().has_value());
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(post_shared(srq_, piece(512, 8), i), 0);
  send_one();
  expect_event(IBV_EVENT_COMM_EST, receiver_);  // a message in RTR
  ibv_srq_attr limit{.max_wr = 0, .max_sge = 0, .srq_limit = 2};
  ASSERT_EQ(ibv_modify_srq(srq_, &limit, IBV_SRQ_LIMIT), 0);
  send_one();
  expect_event(IBV_EVENT_SRQ_LIMIT_REACHED, srq_);
  ibv_qp_attr to_error{};
  to_error.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(receiver_, &to_error, IBV_QP_STATE), 0);
  bed().settle();
  expect_event(IBV_EVENT_QP_LAST_WQE_REACHED, receiver_);
  EXPECT_FALSE(next_event().has_value());
}

}  // namespace
}  // namespace uroce::ibverbs
