// SPDX-License-Identifier: BSD-3-Clause
// Datagrams: one packet is one message, nothing is acknowledged, nothing is kept.
#include "transport/ud.h"

#include <cstring>

#include "base/assert.h"
#include "memory/gather.h"
#include "memory/scatter.h"
#include "transport/error_class.h"
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
    const KeyVerdict verdict =
        env.keys->translate(Key(sge.lkey), qp.pd, memory::kLocalWrite, sge.address,
                            kGrhBytes + frame.payload_length, to);
    if (verdict != KeyVerdict::kGood) return verdict;
    store_network_header(to, frame);
    std::memcpy(to + kGrhBytes, frame.payload, frame.payload_length);
    return verdict;
  }
  uint8_t header[kGrhBytes];
  store_network_header(header, frame);
  const KeyVerdict verdict = memory::scatter(*env.keys, qp.pd, wqe.sges(), 0, header, kGrhBytes);
  if (verdict != KeyVerdict::kGood || frame.payload_length == 0) return verdict;
  return memory::scatter(*env.keys, qp.pd, wqe.sges(), kGrhBytes, frame.payload,
                         frame.payload_length);
}

Cqe receive_completion(const QpContext& qp, const ParsedFrame& frame, uint64_t wr_id,
                       Time arrival) {
  Cqe cqe{};
  cqe.wr_id = wr_id;
  cqe.qp = qp.user;
  cqe.arrival_ns = arrival.time_since_epoch().count();
  cqe.byte_len = kGrhBytes + frame.payload_length;
  cqe.qpn = qp.qpn.value();
  cqe.src_qpn = frame.deth().source_qpn.value();
  cqe.status = WcStatus::kSuccess;
  cqe.opcode = WcOpcode::kRecv;
  uint32_t flags = kWcGrh | kWcWithSmac | kWcWithNetworkHdrType;
  cqe.network_header = frame.ipv6 ? kNetworkIpv6 : kNetworkIpv4;
  std::memcpy(cqe.smac, frame.frame + wire::kMacBytes, wire::kMacBytes);
  if (frame.has_vlan) {
    flags |= kWcWithVlan;
    cqe.vlan_id = frame.vlan_tci & wire::kVlanIdMask;
    cqe.sl = static_cast<uint8_t>(frame.vlan_tci >> 13);
  }
  if (frame.info->imm != 0) {
    flags |= kWcWithImm;
    cqe.immediate_be = frame.imm().network_order;
  }
  cqe.wc_flags = static_cast<uint16_t>(flags);
  cqe.solicited = frame.solicited;
  return cqe;
}

// Builds the packet of a WQE in the slot. False: a bad L_Key.
bool build_datagram(QpContext& qp, TransportEnv& env, const SendWqe& wqe, uint32_t index,
                    TxSlot& slot) {
  const SendQueue& send = qp.queues->send;
  const AddressVector& av = send.address_vector(index);
  const Opcode opcode =
      wqe.opcode == WrOpcode::kSend ? Opcode::kUdSendOnly : Opcode::kUdSendOnlyImmediate;
  const wire::OpcodeInfo& info = wire::opcode_info(opcode);
  const uint32_t ib_bytes = wire::ib_length(opcode, wqe.length);
  UROCE_ASSERT(av.headers.length + ib_bytes <= slot.capacity);
  uint8_t* bth = slot.room + av.headers.length;
  uint8_t* payload = bth + info.header_bytes;
  if ((wqe.flags & kSendInline) != 0) {
    std::memcpy(payload, send.payload_area(index), wqe.length);
  } else if (wqe.length != 0 && memory::gather(*env.keys, qp.pd, send.sges(index), 0, payload,
                                               wqe.length) != KeyVerdict::kGood) {
    return false;
  }
  wire::Bth header;
  header.opcode = opcode;
  header.solicited = (wqe.flags & kSendSolicited) != 0;
  header.pad = wire::pad_bytes(wqe.length);
  header.pkey = qp.pkey;
  header.dest_qpn = av.multicast ? kMulticastQpn : Qpn(wqe.remote_qpn);
  header.psn = qp.req.next_psn;
  // A Q_Key with the highest bit set asks for the queue pair's own one (IBA 10.2.5).
  const bool own = qp.type == QpType::kGsi || (wqe.remote_qkey & kOwnQkeyBit) != 0;
  wire::Deth{own ? own_qkey(qp) : wqe.remote_qkey, qp.qpn}.store(bth + info.deth);
  if (info.imm != 0) wire::ImmDt{wqe.immediate_be}.store(bth + info.imm);
  const uint32_t end = av.headers.length + info.header_bytes + wqe.length;
  slot.length = wire::seal_packet(slot.room, av.headers, env.ip_id, header, end);
  slot.route = av.route;
  ++env.ip_id;
  return true;
}

// The datagram has been handed out: its WQE is done.
void complete_send(QpContext& qp, TransportEnv& env, const SendWqe& wqe, uint32_t index) {
  RequesterState& req = qp.req;
  ++req.next_psn;
  req.max_psn = req.next_psn;
  req.unacked_psn = req.next_psn;
  req.next_index = index + 1;
  ++env.counters->sent_packets;
  env.counters->sent_bytes.add(wqe.length);
  ++env.counters->rdma_sends;
  const bool signaled = qp.signal_all || (wqe.flags & kSendSignaled) != 0;
  Cqe cqe{};
  if (signaled) {
    cqe.wr_id = wqe.wr_id;
    cqe.qp = qp.user;
    cqe.byte_len = wqe.length;
    cqe.qpn = qp.qpn.value();
    cqe.status = WcStatus::kSuccess;
    cqe.opcode = WcOpcode::kSend;
  }
  qp.queues->send.consumer.store(index + 1, std::memory_order_release);
  if (signaled && !cq_push(env, *qp.send_cq, cqe)) [[unlikely]]
    enter_error(qp, env);
}

}  // namespace

void receive_datagram(QpContext& qp, TransportEnv& env, const ParsedFrame& frame, Time arrival) {
  if (frame.deth().qkey != own_qkey(qp)) {
    ++qp.qkey_violations;
    return env.drops->count(wire::Drop::kQkey);
  }
  ReceiveQueue& recv = qp.queues->recv;
  const uint32_t index = recv.consumer.load(std::memory_order_relaxed);
  if (!recv.posted(index)) {
    ++qp.recv_queue_empty;
    return env.drops->count(wire::Drop::kRecvQueueEmpty);
  }
  const RecvWqe& wqe = recv.wqe(index);
  if (wqe.length < kGrhBytes + frame.payload_length) {
    return env.drops->count(wire::Drop::kRecvBufferShort);  // the WQE stays for the next one
  }
  if (place(qp, env, wqe, frame) != KeyVerdict::kGood) [[unlikely]] {
    env.drops->count(wire::Drop::kRecvBufferInvalid);
    qp.resp.recv_wqe_held = true;
    return fail_receive(qp, env, WcStatus::kLocProtErr);
  }
  const Cqe cqe = receive_completion(qp, frame, wqe.wr_id, arrival);
  recv.consumer.store(index + 1, std::memory_order_release);
  if (!cq_push(env, *qp.recv_cq, cqe)) [[unlikely]]
    return enter_error(qp, env);
  ++env.counters->rdma_recvs;
  env.counters->received_bytes.add(frame.payload_length);
}

bool datagram_ready(QpContext& qp) {
  return qp.state == QpState::kRts && qp.queues->send.posted(qp.req.next_index);
}

bool emit_datagram(QpContext& qp, TransportEnv& env, TxSlot& slot) {
  if (!datagram_ready(qp)) return false;
  const uint32_t index = qp.req.next_index;
  const SendWqe& wqe = qp.queues->send.wqe(index);
  if (wqe.opcode != WrOpcode::kSend && wqe.opcode != WrOpcode::kSendWithImm) [[unlikely]] {
    fail_send(qp, env, WcStatus::kLocQpOpErr);
    return false;
  }
  if (!build_datagram(qp, env, wqe, index, slot)) [[unlikely]] {
    fail_send(qp, env, WcStatus::kLocProtErr);
    return false;
  }
  complete_send(qp, env, wqe, index);
  return true;
}

}  // namespace uroce::transport
