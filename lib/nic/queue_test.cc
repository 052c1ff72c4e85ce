// SPDX-License-Identifier: BSD-3-Clause
// Queues over a pair of ring ports: round trip, local route, back-pressure, chains, references.
#include "nic/queue.h"

#include <gmock/gmock.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <numeric>

#include "nic/nic_test_ports.h"
#include "wire/emit.h"
#include "wire/headers.h"
#include "wire/parse.h"

namespace uroce::nic {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class QueueTest : public RingPortsTest {};

TEST_F(QueueTest, FramesCrossThePairBothWays) {
  open();
  ASSERT_TRUE(send(a->queue(0), 3, 10));
  ASSERT_TRUE(send(b->queue(0), 2, 20));
  EXPECT_THAT(receive_tags(b->queue(0)), ElementsAre(10, 11, 12));
  EXPECT_THAT(receive_tags(a->queue(0)), ElementsAre(20, 21));
  EXPECT_THAT(receive_tags(a->queue(0)), IsEmpty());
  EXPECT_EQ(a->queue(0).counters().tx_frames.value(), 3u);
  EXPECT_EQ(a->queue(0).counters().tx_bytes.value(), 3u * 64);
  EXPECT_EQ(b->queue(0).counters().rx_frames.value(), 3u);
  EXPECT_EQ(b->queue(0).counters().rx_bytes.value(), 3u * 64);
}

TEST_F(QueueTest, ReceivedFrameSaysWhatThePortKnows) {
  open();
  ASSERT_TRUE(send(a->queue(0), 1, 1));
  std::vector<RxFrame> frames(kBurst);
  const Time now{Duration{1234}};
  ASSERT_EQ(b->queue(0).receive(now, frames), 1u);
  EXPECT_EQ(frames[0].length, 64u);
  EXPECT_EQ(frames[0].arrival, now);
  EXPECT_FALSE(frames[0].looped);
  EXPECT_FALSE(frames[0].vlan_stripped);
  EXPECT_FALSE(frames[0].icrc_good);
  EXPECT_EQ(frames[0].ip_checksum, ChecksumVerdict::kUnknown);
  EXPECT_EQ(frames[0].udp_checksum, ChecksumVerdict::kUnknown);
  b->queue(0).release({frames.data(), 1});
}

TEST_F(QueueTest, SlotHoldsTheLargestFrameOfPathMtu4096) {
  open();
  const uint32_t length = 14 + 4 + 4096 + 84 + 4 - 4;
  std::span<TxSlot> slots = a->queue(0).lend();
  ASSERT_EQ(slots.size(), kBurst);
  ASSERT_GE(slots[0].capacity, length);
  fill(slots[0], 9, length);
  a->queue(0).submit(1);
  EXPECT_THAT(receive_tags(b->queue(0)), ElementsAre(9));
  EXPECT_EQ(b->queue(0).counters().rx_linearized.value(), 0u);
}

TEST_F(QueueTest, UnusedSlotsAreLentAgainAndNotAllocatedAgain) {
  open();
  std::span<TxSlot> slots = a->queue(0).lend();
  ASSERT_EQ(slots.size(), kBurst);
  const Token last = slots[kBurst - 1].token;
  const Token second = slots[1].token;
  fill(slots[0], 1);
  a->queue(0).submit(1);
  slots = a->queue(0).lend();
  ASSERT_EQ(slots.size(), kBurst);
  EXPECT_EQ(slots[kBurst - 1].token, last);
  EXPECT_EQ(slots[1].token, second);
  EXPECT_EQ(slots[0].length, 0u);
  a->queue(0).submit(0);
  EXPECT_EQ(a->queue(0).lend()[1].token, second);
  EXPECT_THAT(receive_tags(b->queue(0)), ElementsAre(1));
}

TEST_F(QueueTest, LocalRouteComesBackLoopedAndNotToThePeer) {
  open();
  ASSERT_TRUE(send(a->queue(0), 2, 30, Route::kLocal));
  std::vector<RxFrame> frames(kBurst);
  ASSERT_EQ(a->queue(0).receive(Time{}, frames), 2u);
  EXPECT_TRUE(frames[0].looped);
  EXPECT_EQ(frames[0].ip_checksum, ChecksumVerdict::kGood);
  EXPECT_EQ(frames[1].bytes[63], 31);
  a->queue(0).release({frames.data(), 2});
  EXPECT_THAT(receive_tags(b->queue(0)), IsEmpty());
  EXPECT_EQ(a->queue(0).counters().tx_frames.value(), 0u);
  EXPECT_EQ(a->queue(0).counters().tx_local.value(), 2u);
}

TEST_F(QueueTest, BothRoutesShareOneBufferAndOnlyTheLocalOneIsLooped) {
  open();
  ASSERT_TRUE(send(a->queue(0), 1, 40, Route::kBoth));
  std::vector<RxFrame> here(kBurst);
  std::vector<RxFrame> there(kBurst);
  ASSERT_EQ(a->queue(0).receive(Time{}, here), 1u);
  ASSERT_EQ(b->queue(0).receive(Time{}, there), 1u);
  EXPECT_TRUE(here[0].looped);
  EXPECT_FALSE(there[0].looped);
  EXPECT_EQ(here[0].bytes, there[0].bytes);
  a->queue(0).release({here.data(), 1});
  EXPECT_EQ(there[0].bytes[63], 40);  // still there: one reference is left
  b->queue(0).release({there.data(), 1});
}

TEST_F(QueueTest, LocalFramesLeaveRoomForTheWire) {
  open();
  for (uint8_t i = 0; i < 2; ++i) ASSERT_TRUE(send(a->queue(0), 32, 100, Route::kLocal));
  ASSERT_TRUE(send(b->queue(0), 4, 1));
  std::vector<RxFrame> frames(kBurst);
  const uint32_t count = a->queue(0).receive(Time{}, frames);
  EXPECT_EQ(count, 16u + 4u);
  a->queue(0).release({frames.data(), count});
}

TEST_F(QueueTest, FullLocalRouteStopsLendingUntilItIsRead) {
  open();
  uint32_t sent = 0;
  while (send(a->queue(0), 32, 0, Route::kLocal)) sent += 32;
  EXPECT_EQ(sent, kLocalCapacity);
  EXPECT_TRUE(a->queue(0).blocked());
  EXPECT_TRUE(a->queue(0).lend().empty());
  EXPECT_GE(a->queue(0).counters().tx_local_full.value(), 1u);
  EXPECT_EQ(receive_tags(a->queue(0)).size(), 32u);
  EXPECT_FALSE(a->queue(0).blocked());
}

TEST_F(QueueTest, ShortBurstIsBackPressureAndNothingIsLost) {
  open({}, 64);  // the ring holds 63 frames
  ASSERT_TRUE(send(a->queue(0), 32, 0));
  ASSERT_TRUE(send(a->queue(0), 32, 32));
  EXPECT_TRUE(a->queue(0).blocked());
  EXPECT_EQ(a->queue(0).counters().tx_short_bursts.value(), 1u);
  EXPECT_TRUE(a->queue(0).lend().empty());
  a->queue(0).flush();
  EXPECT_TRUE(a->queue(0).blocked());  // nobody has read yet
  std::vector<int> all;
  for (int round = 0; round < 4; ++round) {
    for (int tag : receive_tags(b->queue(0))) all.push_back(tag);
    a->queue(0).flush();
  }
  EXPECT_FALSE(a->queue(0).blocked());
  std::vector<int> wanted(64);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(all, wanted);
  EXPECT_EQ(a->queue(0).counters().tx_frames.value(), 64u);
}

// Else a queue pair would wait for its peer for ever: what was not sent is not sent again.
TEST_F(QueueTest, WhatAPortWithoutLinkLeavesOverIsDropped) {
  open({}, 64);
  a->queue(0).set_link_up(false);
  ASSERT_TRUE(send(a->queue(0), 32, 0));  // taken, so the link is there
  ASSERT_TRUE(send(a->queue(0), 32, 32));
  a->queue(0).flush();
  EXPECT_TRUE(a->queue(0).blocked());
  a->queue(0).set_link_up(false);
  a->queue(0).flush();
  EXPECT_FALSE(a->queue(0).blocked());
  EXPECT_EQ(a->queue(0).counters().tx_link_down.value(), 1u);
  EXPECT_EQ(a->queue(0).counters().tx_frames.value(), 63u);
}

// Whoever waits behind such a port is to find out in its own time, as behind one without a link.
TEST_F(QueueTest, WhatAPortThatStandsStillLeavesOverIsDroppedUntilItMovesAgain) {
  open({}, 64);
  Queue& queue = a->queue(0);
  ASSERT_TRUE(send(queue, 32, 0));
  ASSERT_TRUE(send(queue, 32, 32));
  queue.look_at_progress();  // it has taken 63
  queue.look_at_progress();  // nothing was offered since
  for (uint32_t look = 0; look < Queue::kStuckLooksMax; ++look) {
    queue.flush();
    EXPECT_TRUE(queue.blocked()) << look;
    queue.look_at_progress();
  }
  queue.flush();
  EXPECT_FALSE(queue.blocked());
  EXPECT_EQ(queue.counters().tx_stalled.value(), 1u);
  ASSERT_TRUE(send(queue, 32, 0));  // later ones, likewise
  queue.flush();
  EXPECT_FALSE(queue.blocked());
  EXPECT_EQ(queue.counters().tx_stalled.value(), 33u);

  while (!receive_tags(b->queue(0)).empty()) continue;
  ASSERT_TRUE(send(queue, 32, 0));
  ASSERT_TRUE(send(queue, 32, 32));
  queue.flush();
  EXPECT_TRUE(queue.blocked()) << "back-pressure again";
  EXPECT_EQ(queue.counters().tx_stalled.value(), 33u);
}

TEST_F(QueueTest, DrainTakesHomeWhatIsLeftOverLentLocalAndUnread) {
  open({}, 64);
  ASSERT_TRUE(send(a->queue(0), 32, 0, Route::kBoth));
  ASSERT_TRUE(send(a->queue(0), 32, 0));
  EXPECT_TRUE(a->queue(0).blocked());
  // TearDown drains and asks whether all mbufs are home.
}

TEST_F(QueueTest, EmptyPoolLendsWhatIsLeftAndRecovers) {
  PortConfig config;
  open(config);
  std::vector<rte_mbuf*> taken;
  ASSERT_EQ(a->queue(0).lend().size(), kBurst);
  while (rte_mbuf* mbuf = rte_pktmbuf_alloc(a->pool())) taken.push_back(mbuf);
  ASSERT_TRUE(send(a->queue(0), 10, 0));
  EXPECT_EQ(a->queue(0).lend().size(), kBurst - 10);
  EXPECT_GE(a->queue(0).counters().tx_no_mbuf.value(), 1u);
  ASSERT_TRUE(send(a->queue(0), kBurst - 10, 10));
  EXPECT_TRUE(a->queue(0).lend().empty());
  for (rte_mbuf* mbuf : taken) rte_pktmbuf_free(mbuf);
  EXPECT_EQ(a->queue(0).lend().size(), kBurst);
  std::vector<int> wanted(kBurst);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(receive_tags(b->queue(0)), wanted);
}

TEST_F(QueueTest, ReferenceKeepsAFrameForAnotherOwner) {
  open();
  ASSERT_TRUE(send(a->queue(0), 1, 77, Route::kLocal));
  std::vector<RxFrame> frames(kBurst);
  ASSERT_EQ(a->queue(0).receive(Time{}, frames), 1u);
  Queue::add_reference(frames[0].token);
  const Token token = frames[0].token;
  a->queue(0).release({frames.data(), 1});
  const RxFrame again = Queue::frame_of(token, {Time{Duration{5}}, true});
  EXPECT_EQ(again.bytes[again.length - 1], 77);
  EXPECT_TRUE(again.looped);
  EXPECT_EQ(again.arrival, Time{Duration{5}});
  EXPECT_TRUE(again.stamped);
  Queue::drop_reference(token);
}

// A WRITE Only of 4096 bytes, as it goes over the wire.
std::vector<uint8_t> write_frame() {
  const wire::HeaderTemplate headers =
      wire::make_header_template({.source = local_mac(0),
                                  .destination = local_mac(1),
                                  .sgid = Gid::from_ipv4(0x0A090001),
                                  .dgid = Gid::from_ipv4(0x0A090002),
                                  .udp_source_port = 49152});
  constexpr uint32_t kPayload = 4096;
  const wire::Opcode opcode = wire::Opcode::kRcWriteOnly;
  std::vector<uint8_t> frame(5000);
  uint8_t* bth = wire::emit_headers(frame.data(), headers, wire::ib_length(opcode, kPayload), 1);
  wire::Bth{.opcode = opcode, .dest_qpn = Qpn(0x11), .psn = Psn(1)}.store(bth);
  wire::Reth{.address = 0x1000, .rkey = Key(0x101), .length_bytes = kPayload}.store(bth + 12);
  std::iota(bth + 28, bth + 28 + kPayload, uint8_t{0});
  const auto end = static_cast<uint32_t>(bth + 28 + kPayload - frame.data());
  frame.resize(wire::finish_icrc(frame.data(), headers.l3_offset, false, end));
  return frame;
}

// An mbuf chain with these bytes, cut into segments of the given lengths.
rte_mbuf* chain_of(rte_mempool* pool, std::span<const uint8_t> bytes,
                   std::span<const size_t> lengths) {
  rte_mbuf* chain = nullptr;
  for (const size_t length : lengths) {
    rte_mbuf* part = rte_pktmbuf_alloc(pool);
    char* room = rte_pktmbuf_append(part, static_cast<uint16_t>(length));
    std::copy(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length), room);
    bytes = bytes.subspan(length);
    if (chain == nullptr) {
      chain = part;
    } else {
      EXPECT_EQ(rte_pktmbuf_chain(chain, part), 0);
    }
  }
  return chain;
}

// case 71
TEST_F(QueueTest, RoceFrameInAChainIsWholeWhereverItIsSplit) {
  open();
  const std::vector<uint8_t> bytes = write_frame();
  for (size_t split = 1; split <= 90; ++split) {
    for (const bool at_the_end : {false, true}) {
      const size_t first = at_the_end ? 2048 : split;
      const size_t last = at_the_end ? split : bytes.size() - split - 2048;
      const size_t lengths[] = {first, bytes.size() - first - last, last};
      rte_mbuf* chain = chain_of(a->pool(), bytes, lengths);
      ASSERT_EQ(rte_eth_tx_burst(a->id(), 0, &chain, 1), 1u);
      std::vector<RxFrame> frames(kBurst);
      ASSERT_EQ(b->queue(0).receive(Time{}, frames), 1u);
      ASSERT_EQ(std::vector<uint8_t>(frames[0].bytes, frames[0].bytes + frames[0].length), bytes);
      wire::ParsedFrame parsed;
      ASSERT_EQ(wire::parse_roce({frames[0].bytes, frames[0].length}, {}, parsed),
                wire::Drop::kNone);
      EXPECT_EQ(parsed.payload_length, 4096u);
      EXPECT_TRUE(wire::icrc_ok(parsed)) << "split " << split;
      b->queue(0).release({frames.data(), 1});
    }
  }
  EXPECT_EQ(b->queue(0).counters().rx_linearized.value(), 180u);
}

// case 71
TEST_F(QueueTest, ChainLongerThanThePortsFramesIsDroppedAndCounted) {
  open();
  std::vector<rte_mbuf*> parts(2);
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(a->pool(), parts.data(), 2), 0);
  ASSERT_NE(rte_pktmbuf_append(parts[0], 4000), nullptr);
  ASSERT_NE(rte_pktmbuf_append(parts[1], 1000), nullptr);
  ASSERT_EQ(rte_pktmbuf_chain(parts[0], parts[1]), 0);
  ASSERT_EQ(rte_eth_tx_burst(a->id(), 0, parts.data(), 1), 1u);
  EXPECT_THAT(receive_tags(b->queue(0)), IsEmpty());
  EXPECT_EQ(b->queue(0).counters().rx_linearize_drop.value(), 1u);
}

TEST_F(QueueTest, VerdictsAndVlanComeFromTheMbufAndFollowAHandOff) {
  open();
  rte_mbuf* mbuf = rte_pktmbuf_alloc(a->pool());
  ASSERT_NE(rte_pktmbuf_append(mbuf, 64), nullptr);
  mbuf->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_IP_CKSUM_GOOD |
                   RTE_MBUF_F_RX_L4_CKSUM_BAD;
  mbuf->vlan_tci = 0x6064;
  ASSERT_EQ(rte_eth_tx_burst(a->id(), 0, &mbuf, 1), 1u);
  std::vector<RxFrame> frames(kBurst);
  ASSERT_EQ(b->queue(0).receive(Time{}, frames), 1u);
  for (const RxFrame& frame : {frames[0], Queue::frame_of(frames[0].token, {})}) {
    EXPECT_TRUE(frame.vlan_stripped);
    EXPECT_EQ(frame.vlan_tci, 0x6064);
    EXPECT_EQ(frame.ip_checksum, ChecksumVerdict::kGood);
    EXPECT_EQ(frame.udp_checksum, ChecksumVerdict::kBad);
  }
  b->queue(0).release({frames.data(), 1});
}

TEST_F(QueueTest, TagPutBackIntoTheFrameIsNotStripped) {
  open();
  rte_mbuf* mbuf = rte_pktmbuf_alloc(a->pool());
  ASSERT_NE(rte_pktmbuf_append(mbuf, 64), nullptr);
  mbuf->ol_flags = RTE_MBUF_F_RX_VLAN;  // as net_af_packet does
  mbuf->vlan_tci = 100;
  ASSERT_EQ(rte_eth_tx_burst(a->id(), 0, &mbuf, 1), 1u);
  std::vector<RxFrame> frames(kBurst);
  ASSERT_EQ(b->queue(0).receive(Time{}, frames), 1u);
  EXPECT_FALSE(frames[0].vlan_stripped);
  EXPECT_EQ(frames[0].vlan_tci, 0);
  b->queue(0).release({frames.data(), 1});
}

// What a port on a kernel interface does: here the settings are made by hand over a ring.
TEST_F(QueueTest, OwnSourceMacAndUnjudgedUdpSumsOnAKernelInterface) {
  open();
  Queue queue({.port_id = b->id(),
               .queue_id = 0,
               .pool = b->pool(),
               .frame_bytes_max = 2000,
               .ignore_udp_checksum = true,
               .drop_own_mac = true,
               .mac = MacAddress{{0x55, 0x55, 0x55, 0x55, 0x55, 0x55}}});
  ASSERT_TRUE(send(a->queue(0), 1, 1));  // every byte 0x55: the source MAC too
  std::span<TxSlot> slots = a->queue(0).lend();
  fill(slots[0], 2);
  slots[0].room[11] = 0x54;
  a->queue(0).submit(1);
  std::vector<RxFrame> frames(kBurst);
  ASSERT_EQ(queue.receive(Time{}, frames), 1u);
  EXPECT_EQ(frames[0].bytes[63], 2);
  EXPECT_EQ(frames[0].udp_checksum, ChecksumVerdict::kIgnore);
  EXPECT_EQ(Queue::frame_of(frames[0].token, {}).udp_checksum, ChecksumVerdict::kIgnore);
  EXPECT_EQ(queue.counters().rx_own_source_mac.value(), 1u);
  queue.release({frames.data(), 1});
}

TEST_F(QueueTest, EachQueueOfAPortIsAWorldOfItsOwn) {
  PortConfig config;
  config.queue_count = 2;
  open(config);
  ASSERT_TRUE(send(a->queue(1), 1, 5));
  EXPECT_THAT(receive_tags(b->queue(0)), IsEmpty());
  EXPECT_THAT(receive_tags(b->queue(1)), ElementsAre(5));
}

}  // namespace
}  // namespace uroce::nic
