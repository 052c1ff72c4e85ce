// SPDX-License-Identifier: BSD-3-Clause
// Test support: one queue pair with its queues, an engine's surroundings, registered memory, and a
// peer that crafts any packet. Time stands still unless a test moves it.
#ifndef UROCE_TRANSPORT_QP_FIXTURE_H
#define UROCE_TRANSPORT_QP_FIXTURE_H

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "base/aligned_block_fixture.h"
#include "memory/scatter.h"
#include "transport/completer.h"
#include "transport/qp_context.h"
#include "transport/qp_memory.h"
#include "transport/requester.h"
#include "transport/responder.h"
#include "transport/transport_env.h"
#include "transport/uc.h"
#include "transport/ud.h"
#include "wire/emit.h"
#include "wire/icrc.h"
#include "wire/parse.h"

namespace uroce::transport {

// A packet of ours, parsed; its ICRC was good. `frame` points into `bytes`: not to be copied.
struct Sent {
  std::vector<uint8_t> bytes;
  wire::ParsedFrame frame{};
  Route route = Route::kWire;
  Sent() = default;
  Sent(Sent&&) = default;
  Sent& operator=(Sent&&) = default;

  wire::Opcode opcode() const { return frame.opcode; }
  uint32_t psn() const { return frame.psn.value(); }
  wire::Aeth aeth() const { return frame.aeth(); }
  wire::Reth reth() const { return frame.reth(); }
  std::vector<uint8_t> payload() const {
    return {frame.payload, frame.payload + frame.payload_length};
  }
};

// A packet of the peer's; of the headers those are sent that the opcode has. READ requests and the
// like may get a payload that they must not have.
struct PeerPacket {
  wire::Opcode opcode = wire::Opcode::kRcSendOnly;
  Psn psn{};
  std::vector<uint8_t> payload{};
  bool ack_request = true;
  bool solicited = false;
  uint16_t pkey = wire::kDefaultPkey;
  wire::Reth reth{};
  wire::Aeth aeth{};
  wire::Deth deth{};
  wire::AtomicEth atomic{};
  wire::AtomicAckEth atomic_ack{};
  wire::Ieth ieth{};
  wire::Feth feth{};
  uint32_t immediate_be = 0;
  uint32_t srq_number = 0;        // XRC
  std::optional<Qpn> dest_qpn{};  // else the queue pair under test
};

// A send work request in a test's words.
struct SendRequest {
  WrOpcode opcode = WrOpcode::kSend;
  std::vector<memory::Sge> sges{};
  std::vector<uint8_t> inline_data{};  // with kSendInline
  uint8_t flags = kSendSignaled;
  uint64_t wr_id = 0;
  uint64_t remote_address = 0;
  uint32_t rkey = 0;
  uint64_t compare_add = 0;  // atomics
  uint64_t swap = 0;
  std::optional<uint32_t> length{};  // FLUSH; else what the gather list holds
  uint32_t immediate_be = 0;
  uint32_t remote_qpn = 0;            // UD; XRC: number of the shared receive queue
  uint32_t remote_qkey = 0;           // UD; FLUSH: as in the FETH
  const AddressVector* av = nullptr;  // UD; else the fixture's
};

class QpFixture : public ::testing::Test {
 protected:
  static constexpr uint32_t kPd = 7;
  static constexpr Key kKey{0x0102};  // lkey and rkey of the whole of `buffer`, all rights
  static constexpr Qpn kQpn{0x000011};
  static constexpr Qpn kPeerQpn{0x000022};
  static constexpr Psn kLocalPsn{0x000100};  // first of our requests
  static constexpr Psn kPeerPsn{0x000500};   // first of the peer's
  static constexpr uint32_t kQkey = 0x11111111;
  static constexpr uint32_t kAllAccess = memory::kLocalWrite | memory::kRemoteWrite |
                                         memory::kRemoteRead | memory::kRemoteAtomic |
                                         memory::kFlushGlobal | memory::kFlushPersistent;
  static constexpr size_t kBufferBytes = size_t{4} << 20;
  static constexpr MacAddress kMac{{2, 0, 0, 0, 0, 1}};
  static constexpr MacAddress kPeerMac{{2, 0, 0, 0, 0, 2}};

  QpFixture() : buffer(kBufferBytes) {
    keys.publish(kKey, {buffer.data(), address(0), buffer.size(), kPd, kAllAccess});
    env.keys = &keys;
    env.drops = &drops;
    env.counters = &counters;
    env.now = Time(Duration(std::chrono::seconds(1)));
    make(QpType::kRc);
  }
  ~QpFixture() override {
    cq_publish_all(env);  // a test may have left entries behind
  }

  // Makes the queue pair anew, in RTS and connected (RC), with fresh CQs. Lists nothing posted.
  void make(QpType type, bool ipv6 = false, PathMtu mtu = PathMtu::k1024,
            QpCapabilities capabilities = {64, 64, 4, 4, 64}, uint32_t cq_depth = 256) {
    events();  // of the objects that go
    queue_block_ = aligned_block(qp_memory_bytes(type, capabilities));
    send_cq_block_ = aligned_block(cq_memory_bytes(cq_depth, 1));
    recv_cq_block_ = aligned_block(cq_memory_bytes(cq_depth, 1));
    env.dirty = nullptr;
    env.held_count = 0;
    qp = std::make_unique<QpContext>();
    qp->queues = carve_qp_memory(type, capabilities, queue_block_.get());
    qp->send_cq = carve_cq_memory(cq_depth, 1, send_cq_block_.get());
    qp->recv_cq = carve_cq_memory(cq_depth, 1, recv_cq_block_.get());
    qp->send_cq->user = qp->send_cq;
    qp->recv_cq->user = qp->recv_cq;
    qp->qpn = kQpn;
    qp->type = type;
    qp->pd = kPd;
    qp->recv_pd = kPd;
    qp->user = &user_;
    local_gid = ipv6 ? gid6(1) : Gid::from_ipv4(0x0A000001);
    peer_gid = ipv6 ? gid6(2) : Gid::from_ipv4(0x0A000002);
    destination = local_gid;
    QpAttributes& a = qp->attributes;
    a.av = address_vector(local_gid, peer_gid, kMac, kPeerMac);
    a.path_mtu = mtu;
    a.rq_psn = kPeerPsn;
    a.sq_psn = kLocalPsn;
    a.dest_qpn = kPeerQpn;
    a.qkey = kQkey;
    a.access = memory::kRemoteWrite | memory::kRemoteRead;
    a.timeout = 14;
    a.retry_count = 3;
    a.rnr_retry = 3;
    a.min_rnr_timer = 12;
    a.rd_atomic_max = 4;
    a.dest_rd_atomic_max = 4;
    qp->mtu_bytes = bytes(mtu);
    qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = kLocalPsn;
    qp->req.retry_left = a.retry_count;
    qp->req.rnr_left = a.rnr_retry;
    qp->resp.expected_psn = kPeerPsn;
    put_state(QpState::kRts);
  }
  // The state alone, with none of a transition's consequences.
  void put_state(QpState state) {
    qp->state = state;
    qp->attributes.state = state;
    qp->queues->state_word.store(state, std::memory_order_relaxed);
  }
  static AddressVector address_vector(const Gid& from, const Gid& to, const MacAddress& from_mac,
                                      const MacAddress& to_mac, uint16_t port = 0xC123) {
    wire::AddressFields fields;
    fields.source = from_mac;
    fields.destination = to_mac;
    fields.sgid = from;
    fields.dgid = to;
    fields.udp_source_port = port;
    AddressVector av{};
    av.headers = wire::make_header_template(fields);
    av.sgid = from;
    av.dgid = to;
    av.multicast = to.is_multicast();
    return av;
  }
  static Gid gid6(uint8_t last) {
    Gid gid;
    gid.bytes[0] = 0xfd;
    gid.bytes[15] = last;
    return gid;
  }

  // --- memory and posting -------------------------------------------------------------------
  uint64_t address(size_t offset) const {
    return reinterpret_cast<uint64_t>(buffer.data()) + offset;
  }
  memory::Sge sge(size_t offset, uint32_t length, Key key = kKey) const {
    return {address(offset), length, key.value()};
  }
  void fill(size_t offset, size_t count, uint8_t first = 1) {
    std::iota(buffer.begin() + static_cast<long>(offset),
              buffer.begin() + static_cast<long>(offset + count), first);
  }
  std::vector<uint8_t> bytes_at(size_t offset, size_t count) const {
    return {buffer.begin() + static_cast<long>(offset),
            buffer.begin() + static_cast<long>(offset + count)};
  }
  static std::vector<uint8_t> pattern(size_t count, uint8_t first = 1) {
    std::vector<uint8_t> data(count);
    std::iota(data.begin(), data.end(), first);
    return data;
  }
  void post_recv(const std::vector<memory::Sge>& sges, uint64_t wr_id = 0) {
    ReceiveQueue& queue = qp->queues->recv;
    ASSERT_FALSE(queue.full());
    const uint32_t index = queue.producer.load();
    RecvWqe& wqe = queue.wqe(index);
    wqe = {wr_id, 0, static_cast<uint32_t>(sges.size())};
    for (size_t i = 0; i < sges.size(); ++i) {
      wqe.sge_array()[i] = sges[i];
      wqe.length += sges[i].length;
    }
    queue.producer.store(index + 1);
  }
  void post_recv(size_t offset, uint32_t length, uint64_t wr_id = 0) {
    post_recv({sge(offset, length)}, wr_id);
  }
  void post_send(const SendRequest& request) {
    SendQueue& queue = qp->queues->send;
    ASSERT_FALSE(queue.full());
    const uint32_t index = queue.producer.load();
    SendWqe& wqe = queue.wqe(index);
    wqe = {};
    wqe.wr_id = request.wr_id;
    wqe.remote_address = request.remote_address;
    wqe.rkey = request.rkey;
    wqe.compare_add = request.compare_add;
    wqe.swap = request.swap;
    wqe.remote_qpn = request.remote_qpn;
    wqe.remote_qkey = request.remote_qkey;
    wqe.immediate_be = request.immediate_be;
    wqe.opcode = request.opcode;
    wqe.flags = request.flags;
    if ((request.flags & kSendInline) != 0) {
      wqe.length = static_cast<uint32_t>(request.inline_data.size());
      std::copy(request.inline_data.begin(), request.inline_data.end(),
                queue.payload_area(queue.wqe(index)));
    } else {
      wqe.sge_count = static_cast<uint8_t>(request.sges.size());
      wqe.length = 0;
      for (const memory::Sge& element : request.sges) wqe.length += element.length;
      std::copy(request.sges.begin(), request.sges.end(),
                reinterpret_cast<memory::Sge*>(queue.payload_area(queue.wqe(index))));
    }
    if (request.length) wqe.length = *request.length;
    if (queue.has_address_vectors) {
      queue.address_vector(queue.wqe(index)) =
          request.av != nullptr ? *request.av : qp->attributes.av;
    }
    queue.producer.store(index + 1);
  }

  // --- the peer ------------------------------------------------------------------------------
  // Builds the frame, headers from the peer to us, with a good ICRC.
  std::vector<uint8_t> craft(const PeerPacket& p) const {
    const AddressVector from_peer = address_vector(peer_gid, destination, kPeerMac, kMac, 0xD234);
    const wire::OpcodeInfo& info = wire::opcode_info(p.opcode);
    const auto size = static_cast<uint32_t>(p.payload.size());
    std::vector<uint8_t> frame(wire::HeaderTemplate::kCapacity + 128 + size);
    uint8_t* bth = wire::emit_headers(frame.data(), from_peer.headers,
                                      wire::ib_length(p.opcode, size), 0x1234);
    wire::Bth header;
    header.opcode = p.opcode;
    header.solicited = p.solicited;
    header.pad = wire::pad_bytes(size);
    header.pkey = p.pkey;
    header.dest_qpn = p.dest_qpn.value_or(qp->qpn);
    header.ack_request = p.ack_request;
    header.psn = p.psn;
    header.store(bth);
    if (info.xrceth != 0) wire::XrcEth{p.srq_number}.store(bth + info.xrceth);
    if (info.reth != 0) p.reth.store(bth + info.reth);
    if (info.aeth != 0) p.aeth.store(bth + info.aeth);
    if (info.deth != 0) p.deth.store(bth + info.deth);
    if (info.imm != 0) wire::ImmDt{p.immediate_be}.store(bth + info.imm);
    if (info.atomic != 0) p.atomic.store(bth + info.atomic);
    if (info.atomic_ack != 0) p.atomic_ack.store(bth + info.atomic_ack);
    if (info.ieth != 0) p.ieth.store(bth + info.ieth);
    if (info.feth != 0) p.feth.store(bth + info.feth);
    std::copy(p.payload.begin(), p.payload.end(), bth + info.header_bytes);
    const auto end = static_cast<uint32_t>(bth + info.header_bytes + size - frame.data());
    frame.resize(
        wire::finish_icrc(frame.data(), from_peer.headers.l3_offset, from_peer.headers.ipv6, end));
    return frame;
  }
  // The packet arrives: as a request, a response or a datagram; the input ends with publishing.
  void request(const PeerPacket& p) {
    arrive(p, [this](const wire::ParsedFrame& f) { receive_request(*qp, env, f, {env.now}); });
  }
  void response(const PeerPacket& p) {
    arrive(p, [this](const wire::ParsedFrame& f) { receive_response(*qp, env, f); });
  }
  void unreliable(const PeerPacket& p) {
    arrive(p, [this](const wire::ParsedFrame& f) { receive_unreliable(*qp, env, f, {env.now}); });
  }
  void datagram(const PeerPacket& p) {
    arrive(p, [this](const wire::ParsedFrame& f) { receive_datagram(*qp, env, f, {env.now}); });
  }

  // --- output ----------------------------------------------------------------------------------
  // What emit_response, emit_request, … puts out until it has no more.
  std::vector<Sent> responses(size_t most = 4096) {
    return emitted(most, [this](TxSlot& slot) { return emit_response(*qp, env, slot); });
  }
  // The only answer is that of a request that brings nothing back: FLUSH, ATOMIC WRITE.
  void expect_done_answer(uint32_t psn) {
    const auto out = responses();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].opcode(), wire::Opcode::kRcReadResponseOnly);
    EXPECT_EQ(out[0].psn(), psn);
    EXPECT_EQ(out[0].aeth(), (wire::Aeth{0x1F, qp->resp.msn}));
    EXPECT_EQ(out[0].frame.payload_length, 0u);
  }
  std::vector<Sent> requests(size_t most = 4096) {
    return emitted(most, [this](TxSlot& slot) { return emit_request(*qp, env, slot); });
  }
  std::vector<Sent> unreliables(size_t most = 4096) {
    return emitted(most, [this](TxSlot& slot) { return emit_unreliable(*qp, env, slot); });
  }
  std::vector<Sent> datagrams(size_t most = 4096) {
    return emitted(most, [this](TxSlot& slot) {
      uint32_t turn = 1;
      return emit_datagrams(*qp, env, {&slot, 1}, turn) == 1;
    });
  }
  static std::vector<Cqe> poll(CompletionQueue& cq) {
    std::vector<Cqe> out;
    cq_poll(cq, 1024, [&](const Cqe& cqe) { out.push_back(cqe); });
    return out;
  }
  std::vector<Cqe> send_completions() {
    cq_publish_all(env);
    return poll(*qp->send_cq);
  }
  std::vector<Cqe> recv_completions() {
    cq_publish_all(env);
    return poll(*qp->recv_cq);
  }
  std::vector<EventType> events() {
    std::vector<EventType> out;
    Event event{};
    while (env.events.take(event)) out.push_back(event.type);
    return out;
  }
  uint64_t dropped(wire::Drop reason) const {
    return drops.by_reason[static_cast<size_t>(reason)].value();
  }
  void advance(Duration by) { env.now += by; }

  std::vector<uint8_t> buffer;
  memory::KeyTable keys{16};
  DropCounters drops;
  TransportCounters counters;
  TransportEnv env;
  std::unique_ptr<QpContext> qp;
  Gid local_gid;
  Gid peer_gid;
  Gid destination;  // of the peer's packets: local_gid, or a group that a test names

 private:
  template <typename Handler>
  void arrive(const PeerPacket& packet, Handler&& handler) {
    const std::vector<uint8_t> bytes = craft(packet);
    wire::ParsedFrame frame{};
    ASSERT_EQ(wire::parse_roce(bytes, {}, frame), wire::Drop::kNone);
    ASSERT_TRUE(wire::icrc_ok(frame));
    handler(frame);
    cq_publish_all(env);
  }
  template <typename Emit>
  std::vector<Sent> emitted(size_t most, Emit&& emit) {
    std::vector<Sent> out;
    while (out.size() < most) {
      Sent sent;
      sent.bytes.assign(wire::HeaderTemplate::kCapacity + 64 + bytes(PathMtu::k4096), 0xEE);
      TxSlot slot;
      slot.room = sent.bytes.data();
      slot.capacity = static_cast<uint32_t>(sent.bytes.size());
      if (!emit(slot)) break;
      sent.bytes.resize(slot.length);
      sent.route = slot.route;
      EXPECT_EQ(wire::parse_roce(sent.bytes, {}, sent.frame), wire::Drop::kNone);
      EXPECT_TRUE(wire::icrc_ok(sent.frame));
      out.push_back(std::move(sent));
    }
    return out;
  }

  AlignedBlock queue_block_;
  AlignedBlock send_cq_block_;
  AlignedBlock recv_cq_block_;
  int user_ = 0;
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_QP_FIXTURE_H
