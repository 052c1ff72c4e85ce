// SPDX-License-Identifier: BSD-3-Clause
// RoCE packets as readable lines.
#include "wire/format.h"

#include "wire/format_link.h"
#include "wire/text_line.h"

namespace uroce::wire {
namespace {

constexpr uint8_t kMadBaseVersion = 1;
constexpr uint8_t kMadClassCm = 7;
constexpr uint32_t kMadHeaderBytes = 24;
constexpr uint16_t kCmFirstAttribute = 0x10;
constexpr const char* kCmNames[] = {"REQ",  "MRA",      "REJ",      "REP", "RTU", "DREQ",
                                    "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"};
constexpr const char* kNakNames[] = {"PSN sequence", "invalid request", "remote access",
                                     "remote operational", "invalid RD request"};

void add_addresses(TextLine& line, const ParsedFrame& packet) {
  char source[kAddressTextBytes];
  char destination[kAddressTextBytes];
  format_address(source, sizeof source, packet.source());
  format_address(destination, sizeof destination, packet.destination());
  line.add("%s > %s", source, destination);
  if (packet.has_vlan) {
    line.add(" vlan %u prio %u", packet.vlan_tci & kVlanIdMask, packet.vlan_tci >> 13);
  }
}

void add_flags(TextLine& line, const ParsedFrame& packet) {
  constexpr const char* kEcn[] = {"", " ECT(1)", " ECT(0)", " CE"};
  line.add("%s%s%s%s%s%s", packet.solicited() ? " SE" : "", packet.ack_request() ? " A" : "",
           packet.mig_req() ? " M" : "", packet.fecn() ? " FECN" : "", packet.becn() ? " BECN" : "",
           kEcn[packet.ecn()]);
  if (packet.pkey != kDefaultPkey) line.add(" P_Key 0x%04x", packet.pkey);
}

// "CM REQ" and the like, for a management datagram to QP 1.
void add_mad(TextLine& line, const ParsedFrame& packet) {
  if (packet.dest_qpn != kGsiQpn || packet.payload_length < kMadHeaderBytes) return;
  const uint8_t* mad = packet.payload;
  if (mad[0] != kMadBaseVersion) return;
  const uint16_t attribute = load_be16(mad + 16);
  const auto index = static_cast<size_t>(attribute - kCmFirstAttribute);
  if (mad[1] == kMadClassCm && index < std::size(kCmNames)) {
    line.add(" CM %s", kCmNames[index]);
  } else {
    line.add(" MAD class 0x%02x attribute 0x%04x", mad[1], attribute);
  }
}

void add_acknowledgement(TextLine& line, const ParsedFrame& packet) {
  const OpcodeInfo& info = *packet.info;
  if (info.has(kAeth)) {
    const Aeth aeth = packet.aeth();
    char text[kSyndromeTextBytes];
    format_syndrome(text, sizeof text, aeth.syndrome);
    line.add(" %s MSN %u", text, aeth.msn);
  }
  if (info.has(kAtomicAck)) {
    line.add(" original 0x%016llx", static_cast<unsigned long long>(packet.atomic_ack().original));
  }
}

void add_request(TextLine& line, const ParsedFrame& packet) {
  const OpcodeInfo& info = *packet.info;
  if (info.has(kXrceth)) line.add(" SRQ 0x%06x", packet.xrceth().srq_number);
  if (info.has(kDeth)) {
    const Deth deth = packet.deth();
    line.add(" Q_Key 0x%08x from QPN 0x%06x", deth.qkey, deth.source_qpn.value());
  }
  if (info.has(kFeth)) {
    const Feth feth = packet.feth();
    line.add(" placement %u selectivity %u", feth.placement, feth.selectivity);
  }
  if (info.has(kReth)) {
    const Reth reth = packet.reth();
    line.add(" VA 0x%llx R_Key 0x%08x length %u", static_cast<unsigned long long>(reth.address),
             reth.rkey.value(), reth.length_bytes);
  }
  if (info.has(kAtomic)) {
    const AtomicEth atomic = packet.atomic();
    line.add(" VA 0x%llx R_Key 0x%08x swap/add 0x%llx compare 0x%llx",
             static_cast<unsigned long long>(atomic.address), atomic.rkey.value(),
             static_cast<unsigned long long>(atomic.swap_or_add),
             static_cast<unsigned long long>(atomic.compare));
  }
  if (info.has(kImm)) line.add(" immediate 0x%08x", load_be32(packet.bth + info.imm));
  if (info.has(kIeth)) line.add(" invalidate R_Key 0x%08x", packet.ieth().rkey.value());
}

void add_packet(TextLine& line, const ParsedFrame& packet) {
  add_addresses(line, packet);
  line.add(" %s QPN 0x%06x PSN 0x%06x", packet.info->name, packet.dest_qpn.value(),
           packet.psn.value());
  add_flags(line, packet);
  add_acknowledgement(line, packet);
  add_request(line, packet);
  add_mad(line, packet);
  if (packet.payload_length != 0 || packet.info->has(kPayload)) {
    line.add(" payload %u", packet.payload_length);
  }
  if (packet.pad != 0) line.add(" pad %u", packet.pad);
}

// A RoCE frame that was refused: what can be read of it, and why.
void add_refused(TextLine& line, std::span<const uint8_t> frame, const L3Info& info, Drop drop) {
  add_ip_addresses(line, frame, info);
  const size_t bth_offset = info.l4_offset + kUdpBytes;
  if (frame.size() >= bth_offset + kBthBytes && drop != Drop::kBthShort) {
    const Bth bth = Bth::parse(frame.data() + bth_offset);
    const OpcodeInfo& row = opcode_info(bth.opcode);
    if (row.known) {
      line.add(" %s", row.name);
    } else {
      line.add(" opcode 0x%02X", static_cast<unsigned>(bth.opcode));
    }
    line.add(" QPN 0x%06x PSN 0x%06x", bth.dest_qpn.value(), bth.psn.value());
  }
  line.add(" refused %s: %s", drop_name(drop), drop_explanation(drop));
}

}  // namespace

uint32_t credits_of(uint8_t credit_code) {
  // 0, 1, 2, 3, 4, 6, 8, 12, …: from 2 on, each second code doubles.
  const uint32_t code = credit_code & 0x1Fu;
  if (code < 2) return code;
  return (2u + (code & 1)) << (code / 2 - 1);
}

size_t format_syndrome(char* to, size_t capacity, uint8_t syndrome) {
  TextLine line(to, capacity);
  const Aeth aeth{syndrome, 0};
  switch (aeth.kind()) {
    case AethKind::kAck:
      line.add("ACK");
      if (syndrome != Aeth::kAckNoCredits) line.add(" credits %u", credits_of(syndrome));
      break;
    case AethKind::kRnrNak:
      line.add("RNR NAK timer %u", aeth.rnr_timer());
      break;
    case AethKind::kNak:
      if ((syndrome & 0x1F) < std::size(kNakNames)) {
        line.add("NAK %s", kNakNames[syndrome & 0x1F]);
        break;
      }
      [[fallthrough]];
    case AethKind::kReserved:
      line.add("syndrome 0x%02x", syndrome);
      break;
  }
  return line.length();
}

size_t format_packet(char* to, size_t capacity, const ParsedFrame& packet) {
  TextLine line(to, capacity);
  add_packet(line, packet);
  return line.length();
}

size_t format_frame(char* to, size_t capacity, std::span<const uint8_t> frame,
                    const ParseOptions& options) {
  TextLine line(to, capacity);
  L3Info info;
  if (classify(frame, options, info) != FrameKind::kRoce) {
    add_link_frame(line, frame, info, options);
    return line.length();
  }
  ParsedFrame packet;
  const Drop drop = parse_roce(frame, info, options, packet);
  if (drop == Drop::kNone) {
    add_packet(line, packet);
  } else {
    add_refused(line, frame, info, drop);
  }
  return line.length();
}

}  // namespace uroce::wire
