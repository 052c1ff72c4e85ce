// SPDX-License-Identifier: BSD-3-Clause
// A request packet of a connection, RC, UC or XRC: which part of its message it carries, its
// headers.
//
// All of it follows from the WQE and the packet's place in the message, so a second copy differs
// from the first in nothing but IP identification and AckReq. In a header because every packet
// that is sent passes here.
#ifndef UROCE_TRANSPORT_REQUEST_PACKET_H
#define UROCE_TRANSPORT_REQUEST_PACKET_H

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "memory/gather.h"
#include "transport/qp_context.h"
#include "transport/service.h"
#include "transport/transport_env.h"
#include "wire/emit.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace uroce::transport {

// What a packet needs beside its payload.
struct RequestPacket {
  wire::Opcode opcode;
  uint32_t payload_bytes;
  uint32_t psns;  // that it takes
  bool ends_message;
  bool solicited;
  bool ack_request;
};

// PSNs that a work request takes. A READ as many as its response has packets, a FLUSH one, however
// much it names. The MTU is a power of two.
inline uint32_t packets_of(const SendWqe& wqe, uint32_t mtu_bytes) {
  if (wqe.length <= mtu_bytes || wqe.opcode == WrOpcode::kFlush) return 1;
  return ((wqe.length - 1) >> __builtin_ctz(mtu_bytes)) + 1;
}

// Whether the request brings data along: SEND, WRITE, ATOMIC WRITE.
constexpr bool carries_payload(WrOpcode opcode) {
  return opcode < WrOpcode::kRdmaRead || opcode == WrOpcode::kAtomicWrite ||
         opcode == WrOpcode::kSendWithInvalidate;
}

// The opcode of a request without payload.
constexpr wire::Opcode bare_opcode(QpType type, WrOpcode opcode) {
  wire::Opcode reliable = wire::Opcode::kRcReadRequest;
  if (opcode == WrOpcode::kAtomicCmpSwap) reliable = wire::Opcode::kRcCompareSwap;
  if (opcode == WrOpcode::kAtomicFetchAdd) reliable = wire::Opcode::kRcFetchAdd;
  if (opcode == WrOpcode::kFlush) reliable = wire::Opcode::kRcFlush;
  return opcode_of(type, reliable);
}

// The opcode of a part of a message. `place`: bit 0 first, bit 1 last.
inline wire::Opcode message_opcode(QpType type, WrOpcode opcode, uint32_t place) {
  using wire::Opcode;
  static constexpr Opcode kOpcodes[4][4] = {
      {Opcode::kRcWriteMiddle, Opcode::kRcWriteFirst, Opcode::kRcWriteLast, Opcode::kRcWriteOnly},
      {Opcode::kRcWriteMiddle, Opcode::kRcWriteFirst, Opcode::kRcWriteLastImmediate,
       Opcode::kRcWriteOnlyImmediate},
      {Opcode::kRcSendMiddle, Opcode::kRcSendFirst, Opcode::kRcSendLast, Opcode::kRcSendOnly},
      {Opcode::kRcSendMiddle, Opcode::kRcSendFirst, Opcode::kRcSendLastImmediate,
       Opcode::kRcSendOnlyImmediate},
  };
  static constexpr Opcode kSendInvalidate[4] = {Opcode::kRcSendMiddle, Opcode::kRcSendFirst,
                                                Opcode::kRcSendLastInvalidate,
                                                Opcode::kRcSendOnlyInvalidate};
  if (opcode == WrOpcode::kAtomicWrite) return opcode_of(type, Opcode::kRcAtomicWrite);
  if (opcode == WrOpcode::kSendWithInvalidate) return opcode_of(type, kSendInvalidate[place]);
  return opcode_of(type, kOpcodes[static_cast<uint8_t>(opcode)][place]);
}

// Packet `index` of a message with payload. It does not ask for an ACK yet.
inline RequestPacket message_packet(const QpContext& qp, const SendWqe& wqe, uint32_t index) {
  const uint32_t offset = index * qp.mtu_bytes;
  const uint32_t payload_bytes = std::min(wqe.length - offset, qp.mtu_bytes);
  const bool last = offset + payload_bytes == wqe.length;
  const uint32_t place = (index == 0 ? 1u : 0u) | (last ? 2u : 0u);
  const wire::Opcode opcode = message_opcode(qp.type, wqe.opcode, place);
  const bool solicited =
      (wqe.flags & kSendSolicited) != 0 && wire::opcode_info(opcode).has(wire::kCompletesRecv);
  return {opcode, payload_bytes, 1, last, solicited, false};
}

// Where the BTH of a packet with that opcode and payload goes; there is room for all of it.
inline uint8_t* request_room(const QpContext& qp, const TxSlot& slot, wire::Opcode opcode,
                             uint32_t payload_bytes) {
  const uint32_t headers = qp.attributes.av.headers.length;
  UROCE_ASSERT(headers + wire::ib_length(opcode, payload_bytes) <= slot.capacity);
  return slot.room + headers;
}

// Copies `count` bytes of the WQE's message, from byte `offset` on. False: a bad L_Key.
inline bool copy_payload(const QpContext& qp, const TransportEnv& env, const SendWqe& wqe,
                         uint32_t offset, uint8_t* to, uint32_t count) {
  const SendQueue& send = qp.queues->send;
  if ((wqe.flags & kSendInline) != 0) {
    std::memcpy(to, send.payload_area(wqe) + offset, count);
    return true;
  }
  return memory::gather(*env.keys, qp.pd, send.sges(wqe), offset, to, count) ==
         memory::KeyVerdict::kGood;
}

// Writes the extension headers that the opcode has. `offset`: bytes of a READ that are not asked
// for again; else 0.
inline void store_extension_headers(const SendWqe& wqe, const wire::OpcodeInfo& info,
                                    uint32_t offset, uint8_t* bth) {
  if (info.reth != 0) {
    const wire::Reth reth{wqe.remote_address + offset, Key(wqe.rkey), wqe.length - offset};
    reth.store(bth + info.reth);
  }
  if (info.xrceth != 0) wire::XrcEth{wqe.remote_qpn}.store(bth + info.xrceth);
  if (info.imm != 0) wire::ImmDt{wqe.immediate_be}.store(bth + info.imm);
  if (info.ieth != 0) wire::Ieth{Key(wqe.immediate_be)}.store(bth + info.ieth);
  if (info.atomic != 0) [[unlikely]] {
    const bool swaps = wqe.opcode == WrOpcode::kAtomicCmpSwap;
    const wire::AtomicEth atomic{wqe.remote_address, Key(wqe.rkey),
                                 swaps ? wqe.swap : wqe.compare_add, swaps ? wqe.compare_add : 0};
    atomic.store(bth + info.atomic);
  }
  if (info.feth != 0) [[unlikely]] {
    store_be32(bth + info.feth, wqe.remote_qkey);
  }
}

// Writes BTH and extension headers of packet `index` of the message and the end of the frame: the
// payload is in place. Its PSN is req.next_psn.
inline void finish_request_packet(const QpContext& qp, const TransportEnv& env, const SendWqe& wqe,
                                  const RequestPacket& packet, uint32_t index, TxSlot& slot) {
  const wire::OpcodeInfo& info = wire::opcode_info(packet.opcode);
  const wire::HeaderTemplate& headers = qp.attributes.av.headers;
  wire::Bth header;
  header.opcode = packet.opcode;
  header.solicited = packet.solicited;
  header.pad = wire::pad_bytes(packet.payload_bytes);
  header.pkey = qp.pkey;
  header.dest_qpn = qp.attributes.dest_qpn;
  header.ack_request = packet.ack_request;
  header.psn = qp.req.next_psn;
  store_extension_headers(wqe, info, index * qp.mtu_bytes, slot.room + headers.length);
  const uint32_t end = headers.length + info.header_bytes + packet.payload_bytes;
  slot.length = wire::seal_packet(slot.room, headers, env.ip_id, header, end);
  slot.route = qp.attributes.av.route;
}

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_REQUEST_PACKET_H
