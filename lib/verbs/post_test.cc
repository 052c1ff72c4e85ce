// SPDX-License-Identifier: BSD-3-Clause
// Tests of posting: what is refused and how, what lies in the ring afterwards, what arrives.
#include <gtest/gtest.h>

#include <cstring>

#include "base/bytes.h"
#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class PostTest : public FaceTest {
 protected:
  static transport::QpQueues& queues(ib_qp* qp) { return *of(qp).handle.queues; }
  static uint32_t sends_posted(ib_qp* qp) { return queues(qp).send.producer.load(); }
  int send(ib_qp* qp, ib_send_wr& wr, const ib_send_wr** bad = nullptr) {
    return ib_post_send(qp, &wr, bad);
  }
};

// PS-01, PR-01; case 46.
TEST_F(PostTest, StatesThatCannotSendOrReceiveRefuse) {
  ib_qp* a = make(IB_QPT_RC);
  EXPECT_EQ(post_send(a, memory_.data(), 8, 1), -EINVAL);
  EXPECT_EQ(post_recv(a, memory_.data(), 8, 1), -EINVAL);
  bring_to(a, IB_QPS_RTR, a);
  EXPECT_EQ(post_send(a, memory_.data(), 8, 1), -EINVAL);
  ib_qp* b = make(IB_QPT_RC);
  bring_to(b, IB_QPS_INIT);
  EXPECT_EQ(post_send(b, memory_.data(), 8, 1), -EINVAL);
  EXPECT_EQ(post_recv(b, memory_.data(), 8, 1), 0);
}

TEST_F(PostTest, AnEmptyListIsASuccessInAnyState) {
  ib_qp* qp = make(IB_QPT_RC);
  EXPECT_EQ(ib_post_send(qp, nullptr, nullptr), 0);
  EXPECT_EQ(ib_post_recv(qp, nullptr, nullptr), 0);
}

// PS-02, PR-03.
TEST_F(PostTest, AFullQueueIsNoMemoryAndNamesTheFirstThatFoundNoRoom) {
  const auto [a, b] = connected();
  std::array<ib_send_wr, 9> list{};
  ib_sge sge = piece(memory_.data(), 8);
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    list[i].sg_list = &sge;
    list[i].num_sge = 1;
    list[i].opcode = IB_WR_SEND;
  }
  const ib_send_wr* bad = nullptr;
  EXPECT_EQ(ib_post_send(a, list.data(), &bad), -ENOMEM);
  EXPECT_EQ(bad, &list[8]);
  EXPECT_EQ(sends_posted(a), 8u);
  for (__u64 i = 0; i < 8; ++i) EXPECT_EQ(post_recv(b, memory_.data(), 8, i), 0);
  EXPECT_EQ(post_recv(b, memory_.data(), 8, 9), -ENOMEM);
}

// PS-03 and M7; case 37.
TEST_F(PostTest, OpcodesThatTheTypeDoesNotHaveAreRefused) {
  const auto [rc, peer] = connected();
  ib_qp* ud = make(IB_QPT_UD);
  bring_to(ud, IB_QPS_RTS);
  ib_ah* ah = handle_to(device::kTestIpv4);
  ib_ud_wr datagram{};
  datagram.ah = ah;
  for (const ib_wr_opcode opcode : {IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_LSO, IB_WR_REG_MR}) {
    datagram.wr.opcode = opcode;
    const ib_send_wr* bad = nullptr;
    EXPECT_EQ(send(ud, datagram.wr, &bad), -EINVAL) << opcode;
    EXPECT_EQ(bad, &datagram.wr);
  }
  ib_send_wr wr{};
  for (const ib_wr_opcode opcode :
       {IB_WR_LSO, IB_WR_RDMA_READ_WITH_INV, static_cast<ib_wr_opcode>(33)}) {
    wr.opcode = opcode;
    EXPECT_EQ(send(rc, wr), -EINVAL) << opcode;
  }
  EXPECT_EQ(sends_posted(rc), 0u);
  (void)peer;
  const auto [uc, uc_peer] = connected(IB_QPT_UC);
  for (const ib_wr_opcode opcode :
       {IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_ATOMIC_WRITE,
        IB_WR_FLUSH, IB_WR_SEND_WITH_INV, IB_WR_LOCAL_INV, IB_WR_REG_MR}) {
    ib_rdma_wr request{};
    request.wr.opcode = opcode;
    const ib_send_wr* bad = nullptr;
    EXPECT_EQ(send(uc, request.wr, &bad), -EINVAL) << opcode;
    EXPECT_EQ(bad, &request.wr);
  }
  EXPECT_EQ(sends_posted(uc), 0u);
  (void)uc_peer;
}

// PS-04; cases 34: lengths are summed in 64 bits.
TEST_F(PostTest, InlineDataIsCopiedDuringTheCallAndMeasuredBefore) {
  const auto [a, b] = connected();
  ib_sge sge[2] = {piece(memory_.data(), 40), piece(memory_.data() + 100, 24)};
  std::memset(memory_.data(), 0xAA, 40);
  std::memset(memory_.data() + 100, 0xBB, 24);
  ib_send_wr wr{};
  wr.sg_list = sge;
  wr.num_sge = 2;
  wr.opcode = IB_WR_SEND;
  wr.send_flags = IB_SEND_INLINE;
  EXPECT_EQ(send(a, wr), 0);
  std::memset(memory_.data(), 0, 200);
  const uint8_t* area = queues(a).send.payload_area(queues(a).send.wqe(0));
  EXPECT_EQ(area[39], 0xAA);
  EXPECT_EQ(area[40], 0xBB);
  EXPECT_EQ(area[63], 0xBB);
  sge[1].length = 25;
  EXPECT_EQ(send(a, wr), -EINVAL) << "one byte over";
  sge[0].length = 0xFFFFFFFF;
  sge[1].length = 33;
  const ib_send_wr* bad = nullptr;
  EXPECT_EQ(send(a, wr, &bad), -EINVAL);
  EXPECT_EQ(bad, &wr);
  EXPECT_EQ(area[63], 0xBB) << "the neighbour is untouched";
  ib_rdma_wr read{};
  read.wr.opcode = IB_WR_RDMA_READ;
  read.wr.send_flags = IB_SEND_INLINE;
  EXPECT_EQ(send(a, read.wr), -EINVAL);
  EXPECT_EQ(sends_posted(a), 1u);
  (void)b;
}

// Cases 32.
TEST_F(PostTest, AMessageOfExactlyTheLimitIsTakenOneByteMoreIsNot) {
  const auto [a, b] = connected();
  ib_sge sge[2] = {piece(memory_.data(), 1u << 30), piece(memory_.data(), 1u << 30)};
  ib_send_wr wr{};
  wr.sg_list = sge;
  wr.num_sge = 2;
  wr.opcode = IB_WR_SEND;
  EXPECT_EQ(send(a, wr), 0);
  EXPECT_EQ(queues(a).send.wqe(0).length, 1u << 31);
  sge[1].length += 1;
  EXPECT_EQ(send(a, wr), -EINVAL);
  sge[0].length = 0xFFFFFFFF;
  sge[1].length = 2;
  EXPECT_EQ(send(a, wr), -EINVAL) << "it is not one byte";
  ib_recv_wr recv{};
  recv.sg_list = sge;
  recv.num_sge = 2;
  EXPECT_EQ(ib_post_recv(b, &recv, nullptr), -EINVAL);
}

TEST_F(PostTest, ListsLongerThanGrantedAreRefused) {
  const auto [a, b] = connected();
  ib_sge sge[3] = {piece(memory_.data(), 1), piece(memory_.data(), 1), piece(memory_.data(), 1)};
  ib_send_wr wr{};
  wr.sg_list = sge;
  wr.num_sge = 3;
  wr.opcode = IB_WR_SEND;
  EXPECT_EQ(send(a, wr), -EINVAL);
  wr.num_sge = -1;
  EXPECT_EQ(send(a, wr), -EINVAL);
  ib_recv_wr recv{};
  recv.sg_list = sge;
  recv.num_sge = 3;
  const ib_recv_wr* bad = nullptr;
  EXPECT_EQ(ib_post_recv(b, &recv, &bad), -EINVAL);
  EXPECT_EQ(bad, &recv);
}

// Case 37.
TEST_F(PostTest, ADatagramNeedsAHandleOfItsDomainAndFitsTheMtu) {
  ib_qp* ud = make(IB_QPT_UD);
  bring_to(ud, IB_QPS_RTS);
  ib_ah* ah = handle_to(device::kTestIpv4);
  EXPECT_EQ(post_datagram(ud, nullptr, 5, memory_.data(), 8, 1), -EINVAL);
  EXPECT_EQ(post_datagram(ud, ah, 5, memory_.data(), 4097, 1), -EINVAL);
  EXPECT_EQ(post_datagram(ud, ah, 5, memory_.data(), 4096, 1), 0);
  ib_pd* other = ib_alloc_pd(ibdev_, 0);
  rdma_ah_attr attr = to(device::kTestIpv4);
  ib_ah* foreign = rdma_create_ah(other, &attr, 0);
  ASSERT_FALSE(IS_ERR(foreign));
  EXPECT_EQ(post_datagram(ud, foreign, 5, memory_.data(), 8, 1), -EINVAL);
  EXPECT_EQ(rdma_destroy_ah(foreign, 0), 0);
  EXPECT_EQ(ib_dealloc_pd(other), 0);
}

// K3; AH-21, AH-25: the address is in the ring, so the handle may change or go.
TEST_F(PostTest, ADatagramCarriesItsAddressAndTheSourcePortOfItsFlow) {
  ib_qp* ud = make(IB_QPT_UD);
  bring_to(ud, IB_QPS_RTS);
  ib_ah* ah = handle_to(device::kTestGroup);
  ASSERT_EQ(post_datagram(ud, ah, 0x12, memory_.data(), 8, 1), 0);
  rdma_ah_attr attr = to(device::kTestIpv4);
  attr.grh.flow_label = 0x12345;
  ASSERT_EQ(rdma_modify_ah(ah, &attr), 0);
  ASSERT_EQ(post_datagram(ud, ah, 0x12, memory_.data(), 8, 2), 0);

  const transport::SendQueue& queue = queues(ud).send;
  const transport::AddressVector& group = queue.address_vector(queue.wqe(0));
  const auto port_of = [](const transport::AddressVector& vector) {
    return load_be16(vector.headers.bytes + vector.headers.length - 8);
  };
  EXPECT_EQ(queue.wqe(0).remote_qpn, 0xFFFFFFu) << "whatever the request says";
  EXPECT_EQ(group.dgid, device::kTestGroup);
  EXPECT_EQ(port_of(group), rdma_get_udp_sport(0, ud->qp_num, 0xFFFFFF));
  const transport::AddressVector& own = queue.address_vector(queue.wqe(1));
  EXPECT_EQ(queue.wqe(1).remote_qpn, 0x12u);
  EXPECT_EQ(own.dgid, device::kTestIpv4);
  EXPECT_EQ(port_of(own), 0xE341);
}

// Cases 89: the source port of a connection is that of its two QPNs, and stays.
TEST_F(PostTest, AConnectionsFramesCarryTheSourcePortOfItsQpns) {
  ib_qp* qp = make(IB_QPT_RC);
  connect_out(qp, 0x6a);
  ASSERT_EQ(post_send(qp, memory_.data(), 2000, 1), 0);
  bed_.settle(10);
  int packets = 0;
  for (const auto& frame : bed_.wire) {
    if (load_be16(frame.data() + 12) != 0x0800 || load_be16(frame.data() + 36) != 4791) continue;
    ++packets;
    EXPECT_EQ(frame[0], 2) << "the MAC address given";
    EXPECT_EQ(frame[15], 0x6a);
    EXPECT_EQ(load_be16(frame.data() + 34), rdma_get_udp_sport(0, qp->qp_num, 0x12));
  }
  EXPECT_EQ(packets, 2);
}

// Case 46: what a drain posts behind everything comes back behind everything, on either queue.
TEST_F(PostTest, ADrainMarkerPostedInErrIsTheLastOfItsQueue) {
  ib_cq_init_attr cq_attr{.cqe = 64, .comp_vector = 0, .flags = 0};
  ib_cq* receives = ib_create_cq(ibdev_, nullptr, nullptr, nullptr, &cq_attr);
  ASSERT_FALSE(IS_ERR(receives));
  ib_qp_init_attr init_attr = init(IB_QPT_RC);
  init_attr.recv_cq = receives;
  ib_qp* a = ib_create_qp(pd_, &init_attr);
  ASSERT_FALSE(IS_ERR(a));
  ib_qp* b = make(IB_QPT_RC);
  bring_to(a, IB_QPS_RTS, b);
  bring_to(b, IB_QPS_RTS, a);
  ib_wc wc[64];
  for (__u64 i = 0; i < 5 * 8; ++i) {  // both rings go round five times
    ASSERT_EQ(post_recv(a, memory_.data() + 4096, 64, i), 0);
    ASSERT_EQ(post_recv(b, memory_.data() + 4096, 64, i), 0);
    ASSERT_EQ(post_send(a, memory_.data(), 8, i), 0);
    ASSERT_EQ(post_send(b, memory_.data(), 8, i, 0), 0);
    ASSERT_EQ(settle_and_poll().size(), 2u) << "the send of a, the receive of b";
    ASSERT_EQ(ib_poll_cq(receives, 64, wc), 1);
  }
  for (__u64 i = 1; i <= 5; ++i) {  // nobody takes them: b has no receive left
    ASSERT_EQ(post_recv(a, memory_.data() + 4096, 64, i), 0);
    ASSERT_EQ(post_send(a, memory_.data(), 8, i, 0), 0);
  }
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_ERR;
  ASSERT_EQ(ib_modify_qp(a, &attr, IB_QP_STATE), 0);
  EXPECT_EQ(post_send(a, memory_.data(), 8, 6, 0), 0);
  EXPECT_EQ(post_recv(a, memory_.data() + 4096, 64, 6), 0);
  const auto sent = settle_and_poll();
  ASSERT_EQ(sent.size(), 6u);
  ASSERT_EQ(ib_poll_cq(receives, 64, wc), 6);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(sent[i].wr_id, i + 1);
    EXPECT_EQ(sent[i].status, IB_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc[i].wr_id, i + 1);
    EXPECT_EQ(wc[i].status, IB_WC_WR_FLUSH_ERR);
  }
  EXPECT_EQ(ib_destroy_qp(a), 0);
  EXPECT_EQ(ib_destroy_cq(receives), 0);
}

// PS-07, PR-04.
TEST_F(PostTest, InErrRequestsAreTakenAndFlushed) {
  const auto [a, b] = connected();
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_ERR;
  ASSERT_EQ(ib_modify_qp(a, &attr, IB_QP_STATE), 0);
  EXPECT_EQ(post_send(a, memory_.data(), 8, 11, 0), 0);
  EXPECT_EQ(post_recv(a, memory_.data(), 8, 12), 0);
  const auto done = settle_and_poll();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].status, IB_WC_WR_FLUSH_ERR);
  EXPECT_EQ(done[1].status, IB_WC_WR_FLUSH_ERR);
  EXPECT_EQ(done[0].wr_id + done[1].wr_id, 23u);
  (void)b;
}

// Case 37.
TEST_F(PostTest, AChainStopsAtItsFirstBadRequestAndNamesIt) {
  const auto [a, b] = connected();
  ASSERT_EQ(post_recv(b, memory_.data() + 4096, 64, 7), 0);
  ib_sge sge[3] = {piece(memory_.data(), 8), piece(memory_.data(), 1), piece(memory_.data(), 1)};
  ib_send_wr chain[3]{};
  for (int i = 0; i < 3; ++i) {
    chain[i].wr_id = static_cast<__u64>(i) + 1;
    chain[i].sg_list = sge;
    chain[i].num_sge = i == 1 ? 3 : 1;
    chain[i].opcode = IB_WR_SEND;
    chain[i].send_flags = IB_SEND_SIGNALED;
    chain[i].next = i < 2 ? &chain[i + 1] : nullptr;
  }
  const ib_send_wr* bad = nullptr;
  EXPECT_EQ(send(a, chain[0], &bad), -EINVAL);
  EXPECT_EQ(bad, &chain[1]);
  EXPECT_EQ(sends_posted(a), 1u);
  const auto done = settle_and_poll();
  ASSERT_EQ(done.size(), 2u) << "the first one, sent and received, and nothing of the others";
  EXPECT_EQ(done[0].status, IB_WC_SUCCESS);
  EXPECT_EQ(done[1].status, IB_WC_SUCCESS);
  EXPECT_EQ(done[0].wr_id + done[1].wr_id, 8u);
}

// PS-06.
TEST_F(PostTest, ABadKeyIsFoundWhenItIsUsed) {
  const auto [a, b] = connected();
  ib_sge sge = piece(memory_.data(), 8);
  sge.lkey = 0;
  ib_send_wr wr{};
  wr.wr_id = 5;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IB_WR_SEND;
  EXPECT_EQ(send(a, wr), 0);
  const auto done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 5u);
  EXPECT_EQ(done[0].status, IB_WC_LOC_PROT_ERR);
  EXPECT_EQ(queues(a).state_word.load(), transport::QpState::kErr);
  (void)b;
}

// PS-08, PR-05.
TEST_F(PostTest, MessagesOfNoBytesArrive) {
  const auto [a, b] = connected();
  ib_recv_wr recv{};
  recv.wr_id = 1;
  ASSERT_EQ(ib_post_recv(b, &recv, nullptr), 0);
  ib_send_wr wr{};
  wr.wr_id = 2;
  wr.opcode = IB_WR_SEND_WITH_IMM;
  wr.ex.imm_data = 0x01020304;
  wr.send_flags = IB_SEND_SIGNALED;
  ASSERT_EQ(send(a, wr), 0);
  const auto done = settle_and_poll();
  ASSERT_EQ(done.size(), 2u);
  for (const ib_wc& wc : done) {
    EXPECT_EQ(wc.status, IB_WC_SUCCESS);
    if (wc.qp != b) continue;
    EXPECT_EQ(wc.opcode, IB_WC_RECV);
    EXPECT_EQ(wc.byte_len, 0u);
    EXPECT_EQ(wc.wc_flags & IB_WC_WITH_IMM, IB_WC_WITH_IMM);
    EXPECT_EQ(wc.ex.imm_data, 0x01020304u);
  }
}

TEST_F(PostTest, WritesAndReadsMoveTheBytes) {
  const auto [a, b] = connected();
  const auto address = reinterpret_cast<__u64>(memory_.data() + 4096);
  ib_mr* mr =
      ib_reg_user_mr(pd_, address, 4096, 0x10000,
                     IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
  ASSERT_FALSE(IS_ERR(mr));
  for (size_t i = 0; i < 3000; ++i) memory_[i] = static_cast<uint8_t>(i * 7);
  ib_sge sge = piece(memory_.data(), 3000);
  ib_rdma_wr wr{};
  wr.wr.sg_list = &sge;
  wr.wr.num_sge = 1;
  wr.wr.opcode = IB_WR_RDMA_WRITE;
  wr.wr.send_flags = IB_SEND_SIGNALED;
  wr.remote_addr = 0x10000;
  wr.rkey = mr->rkey;
  ASSERT_EQ(send(a, wr.wr), 0);
  auto done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IB_WC_SUCCESS);
  EXPECT_EQ(done[0].opcode, IB_WC_RDMA_WRITE);
  EXPECT_EQ(std::memcmp(memory_.data(), memory_.data() + 4096, 3000), 0);

  std::memset(memory_.data(), 0, 3000);
  wr.wr.opcode = IB_WR_RDMA_READ;
  ASSERT_EQ(send(a, wr.wr), 0);
  done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IB_WC_SUCCESS);
  EXPECT_EQ(done[0].opcode, IB_WC_RDMA_READ);
  EXPECT_EQ(std::memcmp(memory_.data(), memory_.data() + 4096, 3000), 0);
  EXPECT_EQ(ib_dereg_mr(mr), 0);

  // MR-12: the key is dead.
  wr.wr.opcode = IB_WR_RDMA_WRITE;
  ASSERT_EQ(send(a, wr.wr), 0);
  done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IB_WC_REM_ACCESS_ERR);
  (void)b;
}

TEST_F(PostTest, ADatagramArrivesWithItsSenderAndHeader) {
  ib_qp* a = make(IB_QPT_UD);
  ib_qp* b = make(IB_QPT_UD);
  bring_to(a, IB_QPS_RTS);
  bring_to(b, IB_QPS_RTR);
  std::memset(memory_.data(), 0x5A, 100);
  ASSERT_EQ(post_recv(b, memory_.data() + 4096, 1024, 3), 0);
  ASSERT_EQ(post_datagram(a, handle_to(device::kTestIpv4), b->qp_num, memory_.data(), 100, 4), 0);
  for (const ib_wc& wc : settle_and_poll()) {
    EXPECT_EQ(wc.status, IB_WC_SUCCESS);
    if (wc.qp != b) continue;
    EXPECT_EQ(wc.byte_len, 140u);
    EXPECT_EQ(wc.src_qp, a->qp_num);
    EXPECT_EQ(wc.wc_flags & IB_WC_GRH, IB_WC_GRH);
    EXPECT_EQ(wc.network_hdr_type, RDMA_NETWORK_IPV4);
    EXPECT_EQ(wc.vlan_id, 0xFFFF);
    EXPECT_EQ(wc.port_num, 1u);
    EXPECT_EQ(memory_[4096 + 20] >> 4, 4);
    EXPECT_EQ(memory_[4096 + 40], 0x5A);
    return;
  }
  FAIL() << "nothing arrived";
}

}  // namespace
}  // namespace uroce::verbs
