// SPDX-License-Identifier: BSD-3-Clause
// Datagrams: one packet is one message, nothing is acknowledged, nothing is kept.
#include "transport/ud.h"

#include <array>
#include <cstring>

#include "base/assert.h"
#include "memory/gather.h"
#include "memory/scatter.h"
#include "transport/completion_entry.h"
#include "transport/error_class.h"
#include "transport/receive_work.h"
#include "wire/emit.h"
#include "wire/headers.h"

namespace uroce::transport {
namespace {

using memory::KeyVerdict;
using wire::Opcode;
using wire::ParsedFrame;

constexpr uint32_t kGrhBytes = 40;
constexpr uint8_t kNetworkIpv4 = 2;  // rdma_network_type
constexpr uint8_t kNetworkIpv6 = 3;
constexpr uint32_t kOwnQkeyBit = 1u << 31;

// Short packets of a burst whose ICRC is still to be written.
class Unsealed {
 public:
  ~Unsealed() { seal(); }
  // Payloads above this go through the ICRC at once, while they are in the nearest cache.
  static constexpr uint32_t kPayloadMax = 192;
  wire::UnsealedPacket& next() {
    if (count_ == packets_.size()) seal();
    return packets_[count_++];
  }

 private:
  void seal() {
    for (uint32_t i = 0; i < count_; ++i) packets_[i].seal();
    count_ = 0;
  }

  uint32_t count_ = 0;
  std::array<wire::UnsealedPacket, 32> packets_;
};

uint32_t own_qkey(const QpContext& qp) {
  return qp.type == QpType::kGsi ? wire::kGsiQkey : qp.attributes.qkey;
}

// The 40 bytes before the data: the IPv6 header, or the IPv4 header behind 20 bytes of zero.
void store_network_header(uint8_t* to, const ParsedFrame& frame) {
  if (frame.ipv6) {
    std::memcpy(to, frame.l3(), wire::kIpv6Bytes);
  } else {
    std::memset(to, 0, kGrhBytes - wire::kIpv4Bytes);
    std::memcpy(to + kGrhBytes - wire::kIpv4Bytes, frame.l3(), wire::kIpv4Bytes);
  }
}

KeyVerdict place(const QpContext& qp, const TransportEnv& env, const RecvWqe& wqe,
                 const ParsedFrame& frame) {
  if (wqe.sge_count == 1) {  // the usual receive: one look at the key, no copy in between
    const memory::Sge& sge = wqe.sges().front();
    uint8_t* to = nullptr;
    // The whole element is judged, not only what is written: a bad list fails at its first byte.
    const KeyVerdict verdict = env.keys->translate(Key(sge.lkey), qp.recv_pd, memory::kLocalWrite,
                                                   sge.address, sge.length, to);
    if (verdict != KeyVerdict::kGood) return verdict;
    store_network_header(to, frame);
    std::memcpy(to + kGrhBytes, frame.payload, frame.payload_length);
    return verdict;
  }
  uint8_t header[kGrhBytes];
  store_network_header(header, frame);
  const KeyVerdict verdict =
      memory::scatter(*env.keys, qp.recv_pd, wqe.sges(), 0, header, kGrhBytes);
  if (verdict != KeyVerdict::kGood || frame.payload_length == 0) return verdict;
  return memory::scatter(*env.keys, qp.recv_pd, wqe.sges(), kGrhBytes, frame.payload,
                         frame.payload_length);
}

void write_completion(Cqe& cqe, const QpContext& qp, const ParsedFrame& frame, uint64_t wr_id,
                      ReceiveTime arrival) {
  uint32_t flags = kWcGrh | kWcWithSmac | kWcWithNetworkHdrType | receive_time_flag(arrival);
  cqe.wr_id = wr_id;
  cqe.qp = qp.user;
  cqe.arrival_ns = arrival.at.time_since_epoch().count();
  cqe.byte_len = kGrhBytes + frame.payload_length;
  cqe.immediate_be = 0;
  if (frame.info->imm != 0) {
    flags |= kWcWithImm;
    cqe.immediate_be = frame.imm().network_order;
  }
  cqe.qpn = qp.qpn.value();
  cqe.src_qpn = frame.deth().source_qpn.value();
  cqe.status = WcStatus::kSuccess;
  cqe.opcode = WcOpcode::kRecv;
  cqe.vlan_id = 0;
  cqe.sl = 0;
  if (frame.has_vlan) {
    flags |= kWcWithVlan;
    cqe.vlan_id = frame.vlan_tci & wire::kVlanIdMask;
    cqe.sl = static_cast<uint8_t>(frame.vlan_tci >> 13);
  }
  cqe.wc_flags = static_cast<uint16_t>(flags);
  std::memcpy(cqe.smac, frame.frame + wire::kMacBytes, wire::kMacBytes);
  cqe.network_header = frame.ipv6 ? kNetworkIpv6 : kNetworkIpv4;
  cqe.solicited = frame.solicited();
}

// Builds the packet of a WQE in the slot. False: a bad L_Key.
inline bool build_datagram(QpContext& qp, TransportEnv& env, const SendWqe& wqe, TxSlot& slot,
                           Unsealed& unsealed) {
  const SendQueue& send = qp.queues->send;
  const AddressVector& av = SendQueue::address_vector(wqe);
  const Opcode opcode =
      wqe.opcode == WrOpcode::kSend ? Opcode::kUdSendOnly : Opcode::kUdSendOnlyImmediate;
  const wire::OpcodeInfo& info = wire::opcode_info(opcode);
  const uint32_t end = av.headers.length + info.header_bytes + wqe.length;
  const uint8_t pad = wire::pad_bytes(wqe.length);
  UROCE_ASSERT(end + pad + wire::kIcrcBytes <= slot.capacity);
  uint8_t* bth = slot.room + av.headers.length;
  uint8_t* payload = bth + info.header_bytes;
  if ((wqe.flags & kSendInline) != 0) {
    std::memcpy(payload, send.payload_area(wqe), wqe.length);
  } else if (wqe.length != 0 && memory::gather_message(*env.keys, qp.pd, send.sges(wqe), payload,
                                                       wqe.length) != KeyVerdict::kGood) {
    return false;
  }
  wire::Bth header;
  header.opcode = opcode;
  header.solicited = (wqe.flags & kSendSolicited) != 0;
  header.pad = pad;
  header.pkey = qp.pkey;
  header.dest_qpn = av.multicast ? kMulticastQpn : Qpn(wqe.remote_qpn);
  header.psn = qp.req.next_psn;
  // A Q_Key with the highest bit set asks for the queue pair's own one (IBA 10.2.5).
  const bool own = qp.type == QpType::kGsi || (wqe.remote_qkey & kOwnQkeyBit) != 0;
  wire::Deth{own ? own_qkey(qp) : wqe.remote_qkey, qp.qpn}.store(bth + info.deth);
  if (info.imm != 0) wire::ImmDt{wqe.immediate_be}.store(bth + info.imm);
  slot.length =
      wqe.length <= Unsealed::kPayloadMax
          ? wire::emit_unsealed(slot.room, av.headers, env.ip_id, header, end, unsealed.next())
          : wire::seal_packet(slot.room, av.headers, env.ip_id, header, end);
  slot.route = av.route;
  ++env.ip_id;
  return true;
}

void complete_signaled(QpContext& qp, TransportEnv& env, uint64_t wr_id, uint32_t bytes) {
  Cqe* cqe = cq_claim(env, *qp.send_cq);
  if (cqe == nullptr) [[unlikely]]
    return enter_error(qp, env);
  *cqe = {};
  cqe->wr_id = wr_id;
  cqe->qp = qp.user;
  cqe->byte_len = bytes;
  cqe->qpn = qp.qpn.value();
  cqe->status = WcStatus::kSuccess;
  cqe->opcode = WcOpcode::kSend;
  cq_commit(env, *qp.send_cq, *cqe);
}

// The datagram has been handed out: its WQE is done.
inline void complete_send(QpContext& qp, TransportEnv& env, const SendWqe& wqe, uint32_t index) {
  RequesterState& req = qp.req;
  ++req.next_psn;
  req.max_psn = req.next_psn;
  req.unacked_psn = req.next_psn;
  req.next_index = index + 1;
  ++env.counters->sent_packets;
  env.counters->sent_bytes.add(wqe.length);
  ++env.counters->rdma_sends;
  const bool signaled = qp.signal_all || (wqe.flags & kSendSignaled) != 0;
  const uint64_t wr_id = wqe.wr_id;
  const uint32_t bytes = wqe.length;
  qp.queues->send.consumer.store(index + 1, std::memory_order_release);  // the WQE is the poster's
  if (signaled) complete_signaled(qp, env, wr_id, bytes);
}

}  // namespace

void receive_datagram(QpContext& qp, TransportEnv& env, const ParsedFrame& frame,
                      ReceiveTime arrival) {
  if (frame.deth().qkey != own_qkey(qp)) {
    ++qp.qkey_violations;
    return env.drops->count(wire::Drop::kQkey);
  }
  ReceiveQueue& recv = qp.queues->recv;
  const uint32_t index = recv.consumer.load(std::memory_order_relaxed);
  if (!recv_wqe_there(qp, env)) {
    ++qp.recv_queue_empty;
    return env.drops->count(wire::Drop::kRecvQueueEmpty);
  }
  const RecvWqe& wqe = recv.wqe(index);
  if (wqe.length < kGrhBytes + frame.payload_length) {
    env.drops->count(wire::Drop::kRecvBufferShort);
    // The queue pair's own WQE stays for the next one; a shared one is taken and does not go back.
    if (qp.srq != nullptr) end_receive(qp, env, WcStatus::kLocLenErr);
    return;
  }
  if (place(qp, env, wqe, frame) != KeyVerdict::kGood) [[unlikely]] {
    env.drops->count(wire::Drop::kRecvBufferInvalid);
    qp.resp.recv_wqe_held = true;
    return fail_receive(qp, env, WcStatus::kLocProtErr);
  }
  const uint64_t wr_id = wqe.wr_id;
  recv.consumer.store(index + 1, std::memory_order_release);
  Cqe* cqe = cq_claim(env, *qp.recv_cq);
  if (cqe == nullptr) [[unlikely]]
    return enter_error(qp, env);
  write_completion(*cqe, qp, frame, wr_id, arrival);
  cq_commit(env, *qp.recv_cq, *cqe);
  ++env.counters->rdma_recvs;
  env.counters->received_bytes.add(frame.payload_length);
}

size_t emit_datagrams(QpContext& qp, TransportEnv& env, std::span<TxSlot> slots, uint32_t& turn) {
  size_t filled = 0;
  Unsealed unsealed;
  for (; filled < slots.size() && turn > 0 && datagram_ready(qp); --turn) {
    const uint32_t index = qp.req.next_index;
    const SendWqe& wqe = qp.queues->send.wqe(index);
    if (wqe.opcode != WrOpcode::kSend && wqe.opcode != WrOpcode::kSendWithImm) [[unlikely]] {
      fail_send(qp, env, WcStatus::kLocQpOpErr);
    } else if (!build_datagram(qp, env, wqe, slots[filled], unsealed)) [[unlikely]] {
      fail_send(qp, env, WcStatus::kLocProtErr);
    } else {
      complete_send(qp, env, wqe, index);
      ++filled;
    }
  }
  return filled;
}

}  // namespace uroce::transport
