// SPDX-License-Identifier: BSD-3-Clause
// A packet, header by header.
#include "test/fuzz/engine/packets.h"

#include <cstring>

#include "wire/emit.h"
#include "wire/headers.h"

namespace uroce::fuzz {
namespace {

using wire::OpcodeInfo;

constexpr uint32_t kPayloadMax = 1100;

// The high bits of the opcode: the service of a queue pair's packets.
uint8_t service_of(const QpSlot& slot) {
  if (slot.qp == nullptr) return 0x00;
  switch (slot.qp->qp_type) {
    case IB_QPT_UC:
      return 0x20;
    case IB_QPT_UD:
      return 0x60;
    case IB_QPT_XRC_INI:
    case IB_QPT_XRC_TGT:
      return 0xA0;
    default:
      return 0x00;
  }
}

wire::Opcode opcode_of(const QpSlot& slot, uint8_t code, uint8_t bend) {
  if ((bend & kAnyOpcode) != 0) return static_cast<wire::Opcode>(code);
  const uint8_t service = service_of(slot);
  const unsigned operation = service == 0x60 ? 4 + code % 2 : code % 32u;
  return static_cast<wire::Opcode>(service | operation);
}

Psn psn_of(const transport::QpContext* qp, const OpcodeInfo& info, uint8_t bend, Program& program) {
  if ((bend & kAnyPsn) != 0) return Psn(program.number());
  const int offset = program.offset();
  if (qp == nullptr) return Psn(static_cast<uint32_t>(offset));
  Psn from = qp->resp.expected_psn;
  if (info.has(wire::kResponse)) from = qp->req.unacked_psn;
  if ((bend & kFromNewest) != 0) from = qp->req.max_psn - 1;
  return from + static_cast<uint32_t>(offset);
}

uint32_t payload_bytes(const OpcodeInfo& info, const QpSlot& slot, Program& program) {
  const uint16_t wanted = program.word();
  if (!info.has(wire::kPayload)) return wanted == 0 ? 0 : wanted % 16u;
  const bool full = info.has(wire::kFirst | wire::kMiddle) && wanted == 0;
  if (full) return static_cast<uint32_t>(ib_mtu_enum_to_int(slot.mtu));
  return info.has(wire::kAtomicWriteOp) && wanted == 0 ? 8 : wanted % kPayloadMax;
}

struct Headers {
  FuzzHost& host;
  QpSlot& slot;
  Program& program;
  const OpcodeInfo& info;
  uint8_t* bth;
  uint32_t payload;

  void store() const {
    if (info.reth != 0) reth();
    if (info.atomic != 0) atomic();
    if (info.aeth != 0) aeth();
    if (info.atomic_ack != 0) wire::AtomicAckEth{program.number()}.store(bth + info.atomic_ack);
    if (info.imm != 0) wire::ImmDt{program.number()}.store(bth + info.imm);
    if (info.ieth != 0) ieth();
    if (info.feth != 0) feth();
    if (info.xrceth != 0) xrceth();
    if (info.deth != 0) deth();
  }

 private:
  void reth() const {
    const Arena::Target target = host.arena().target(program.byte());
    const auto offset = static_cast<uint64_t>(program.far_offset());
    const uint16_t more = program.word();
    wire::Reth header{target.address + offset, Key(target.key), payload};
    // The top bit: a length that has nothing to do with the payload.
    header.length_bytes = (more & 0x8000) != 0 ? program.number() : payload + more;
    header.store(bth + info.reth);
  }
  void atomic() const {
    const Arena::Target target = host.arena().target(program.byte());
    const auto offset = static_cast<uint64_t>(program.far_offset());
    wire::AtomicEth{target.address + offset, Key(target.key), program.number(), program.byte()}
        .store(bth + info.atomic);
  }
  void aeth() const {
    const transport::QpContext* const qp = host.context(slot);
    const uint8_t syndrome = program.byte();
    const uint32_t msn = (qp == nullptr ? 0 : qp->req.begun_index) + program.byte();
    wire::Aeth{syndrome, msn}.store(bth + info.aeth);
  }
  void ieth() const {
    wire::Ieth{Key(host.arena().target(program.byte()).key)}.store(bth + info.ieth);
  }
  void feth() const {
    const uint8_t choice = program.byte();
    wire::Feth{static_cast<uint8_t>((choice ^ 1) & 15), static_cast<uint8_t>(choice >> 4 & 3)}
        .store(bth + info.feth);
  }
  void xrceth() const {
    wire::XrcEth{host.srq(true)->ext.xrc.srq_num + program.byte()}.store(bth + info.xrceth);
  }
  void deth() const {
    wire::Deth{FuzzHost::kQkey + program.byte(), Qpn(FuzzHost::kPeerQpn)}.store(bth + info.deth);
  }
};

wire::AddressFields addresses(FuzzHost& host, const transport::QpContext* qp, uint8_t bend,
                              Program& program) {
  wire::AddressFields fields;
  fields.source = FuzzHost::peer_mac();
  fields.destination = host.host().mac();
  bool ipv6 =
      qp != nullptr && transport::is_connected(qp->type) && !qp->attributes.av.sgid.is_ipv4();
  fields.udp_source_port = 0xC000;
  const uint8_t choice = (bend & kOtherAddress) != 0 ? program.byte() : 0;
  if ((choice & 1) != 0) ipv6 = !ipv6;
  fields.sgid = FuzzHost::peer_gid(ipv6);
  fields.dgid = ipv6 ? host.host().ipv6() : host.host().ipv4();
  if ((choice & 2) != 0) fields.dgid.bytes[15] ^= static_cast<uint8_t>(choice >> 4);
  if ((choice & 4) != 0) fields.sgid.bytes[15] ^= static_cast<uint8_t>(choice >> 4);
  if ((choice & 8) == 0) return fields;
  std::memcpy(fields.dgid.bytes.data(), FuzzHost::group(ipv6 ? 1 : 0).raw, 16);
  const auto& group = fields.dgid.bytes;
  fields.destination = {{0x33, 0x33, group[12], group[13], group[14], group[15]}};
  if (!ipv6) fields.destination = {{0x01, 0x00, 0x5E, group[13], group[14], group[15]}};
  return fields;
}

wire::Bth bth_of(const QpSlot& slot, wire::Opcode opcode, uint8_t bend, uint32_t payload,
                 Program& program) {
  wire::Bth bth;
  bth.opcode = opcode;
  bth.pad = wire::pad_bytes(payload);
  bth.ack_request = (bend & kNoAckRequest) == 0;
  bth.solicited = (bend & kSolicited) != 0;
  bth.dest_qpn = Qpn(slot.qp == nullptr ? 0 : slot.qp->qp_num);
  if ((bend & kOddHeader) == 0) return bth;
  const uint8_t flags = program.byte();
  bth.mig_req = (flags & 1) != 0;
  bth.fecn = (flags & 2) != 0;
  bth.becn = (flags & 4) != 0;
  bth.version = static_cast<uint8_t>((flags & 8) != 0 ? flags >> 4 : 0);
  bth.pkey = static_cast<uint16_t>(0xFFFF ^ (program.byte() << 8));
  bth.pad = static_cast<uint8_t>((bth.pad + program.byte()) & 3);
  return bth;
}

// Cut off, continued, or with a wrong ICRC.
void spoil(std::vector<uint8_t>& frame, Program& program) {
  const int change = program.offset();
  if (change == 0) {
    frame.back() ^= 1;
  } else {
    const auto size = static_cast<int>(frame.size()) + change;
    frame.resize(static_cast<size_t>(std::max(size, 1)));
  }
}

}  // namespace

std::vector<uint8_t> make_packet(FuzzHost& host, Program& program) {
  QpSlot& slot = host.slot(program.byte());
  const uint8_t bend = program.byte();
  const wire::Opcode opcode = opcode_of(slot, program.byte(), bend);
  const OpcodeInfo& info = wire::opcode_info(opcode);
  const transport::QpContext* const qp = host.context(slot);
  const uint32_t header_bytes = info.known ? info.header_bytes : wire::kBthBytes;

  const Psn psn = psn_of(qp, info, bend, program);
  const uint32_t payload = payload_bytes(info, slot, program);
  wire::Bth bth = bth_of(slot, opcode, bend, payload, program);
  bth.psn = psn;
  const wire::AddressFields fields = addresses(host, qp, bend, program);
  if (fields.dgid.is_multicast()) bth.dest_qpn = kMulticastQpn;

  std::vector<uint8_t> frame(wire::HeaderTemplate::kCapacity + header_bytes + payload + 8, 0x5A);
  const wire::HeaderTemplate headers = wire::make_header_template(fields);
  const uint32_t ib_bytes = header_bytes + payload + bth.pad + wire::kIcrcBytes;
  uint8_t* const at = wire::emit_headers(frame.data(), headers, ib_bytes, 0x1234);
  std::memset(at, 0x5A, header_bytes);
  bth.store(at);
  Headers{host, slot, program, info, at, payload}.store();
  const std::span<const uint8_t> data = program.bytes(std::min<uint32_t>(payload, 4));
  std::copy(data.begin(), data.end(), at + header_bytes);

  const auto covered = static_cast<uint32_t>(at - frame.data()) + ib_bytes - wire::kIcrcBytes;
  wire::store_icrc(frame.data() + covered, wire::icrc(frame.data() + headers.l3_offset,
                                                      headers.ipv6, covered - headers.l3_offset));
  frame.resize(covered + wire::kIcrcBytes);
  if ((bend & kWrongLength) != 0) spoil(frame, program);
  return frame;
}

}  // namespace uroce::fuzz
