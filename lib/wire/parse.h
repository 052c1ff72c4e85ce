// SPDX-License-Identifier: BSD-3-Clause
// From the bytes of a frame to fields: what kind of frame it is, and everything that the transport
// needs of a RoCEv2 packet, computed once.
//
// Nothing here reads outside the span, keeps a state, or knows a queue pair. The ICRC is not looked
// at: see wire/icrc.h. Bytes behind the IP packet (padding, a trailer, FCS) are ignored.
#ifndef UROCE_WIRE_PARSE_H
#define UROCE_WIRE_PARSE_H

#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/types.h"
#include "wire/drop.h"
#include "wire/ethernet.h"
#include "wire/headers.h"
#include "wire/ip.h"
#include "wire/opcode.h"

namespace uroce::wire {

// What is known of a checksum before a frame is parsed.
enum class ChecksumVerdict : uint8_t {
  kUnknown,  // nobody looked: verify it here
  kGood,     // the port verified it
  kBad,      // the port found it wrong: drop
  kIgnore,   // cannot be told from one that the sender's offload has yet to fill in: do not look
};

inline constexpr uint16_t kVlanNone = 0;      // untagged frames and priority tags (VLAN id 0)
inline constexpr uint16_t kVlanAny = 0xFFFF;  // whatever comes, for tools

// What a parse needs to know beside the bytes.
struct ParseOptions {
  uint16_t vlan_id = kVlanNone;  // the VLAN of the port: 1..4094, kVlanNone or kVlanAny
  bool vlan_stripped = false;    // the port took a tag out of the frame
  uint16_t vlan_tci = 0;         // that tag; meaningful with vlan_stripped
  ChecksumVerdict ip_checksum = ChecksumVerdict::kUnknown;
  ChecksumVerdict udp_checksum = ChecksumVerdict::kUnknown;
};

// Who a frame is for.
enum class FrameKind : uint8_t {
  kRoce,    // UDP to port 4791: parse_roce()
  kArp,     // wire/arp.h
  kIcmp,    // ICMP over IPv4: wire/icmp.h
  kIcmpv6,  // echo and errors over IPv6: wire/icmp.h
  kNd,      // neighbour and router discovery: wire/nd.h
  kIgmp,    // wire/igmp.h
  kMld,     // wire/mld.h
  kOther,   // nobody: L3Info::not_roce says why
};

// What classify() found. Offsets count from the first byte of the frame.
struct L3Info {
  FrameKind kind = FrameKind::kOther;
  Drop not_roce = Drop::kNone;  // why it is not RoCE; kNone when kind is kRoce
  bool ipv6 = false;
  bool has_vlan = false;  // in the frame or stripped
  uint8_t protocol = 0;   // of the layer at l4_offset: IP protocol number
  uint16_t vlan_tci = 0;
  uint16_t ethertype = 0;
  uint32_t l3_offset = 0;
  uint32_t l4_offset = 0;  // behind the IP header, its options, and hop-by-hop options
};

// Tells the kind of a frame by a look at the fields that decide it: Ethertype, VLAN, IP version and
// protocol, UDP destination port, ICMPv6 type. Lengths and checksums are the parsers' business,
// except that info.l4_offset lies within the frame for every kind but kOther and kArp.
FrameKind classify(std::span<const uint8_t> frame, const ParseOptions& options, L3Info& info);

// A RoCEv2 packet: what every packet needs as fields, the rest read from the frame where it is
// asked for. Pointers point into the frame that was parsed and live as long as it does.
struct ParsedFrame {
  const uint8_t* frame;
  const uint8_t* bth;
  const uint8_t* payload;
  const OpcodeInfo* info;   // never nullptr
  uint32_t payload_length;  // without pad
  uint32_t l3_offset;
  uint32_t ip_length;  // of the whole IP packet, ICRC included
  Qpn dest_qpn;
  Psn psn;
  uint16_t vlan_tci;  // 0 without a tag
  uint16_t pkey;
  Opcode opcode;
  uint8_t pad;
  bool ipv6;
  bool has_vlan;

  const uint8_t* l3() const { return frame + l3_offset; }
  const uint8_t* icrc() const { return l3() + ip_length - kIcrcBytes; }
  MacAddress source_mac() const { return load_mac(frame + 6); }
  MacAddress destination_mac() const { return load_mac(frame); }
  uint8_t traffic_class() const {
    return ipv6 ? static_cast<uint8_t>(load_be16(l3()) >> 4) : l3()[1];
  }
  uint8_t ecn() const { return traffic_class() & 3; }
  uint8_t hop_limit() const { return l3()[ipv6 ? 7 : 8]; }
  uint32_t flow_label() const { return ipv6 ? load_be32(l3()) & 0xFFFFF : 0; }  // 0 when IPv4
  uint16_t udp_source_port() const { return load_be16(bth - kUdpBytes); }
  // From the BTH up to and including the ICRC.
  uint32_t ib_bytes() const { return static_cast<uint32_t>(l3() + ip_length - bth); }
  bool solicited() const { return (bth[1] & 0x80) != 0; }
  bool mig_req() const { return (bth[1] & 0x40) != 0; }
  bool fecn() const { return (bth[4] & 0x80) != 0; }
  bool becn() const { return (bth[4] & 0x40) != 0; }
  bool ack_request() const { return (bth[8] & 0x80) != 0; }
  Gid source() const { return load_address(l3() + (ipv6 ? 8 : 12), ipv6); }
  Gid destination() const { return load_address(l3() + (ipv6 ? 24 : 16), ipv6); }
  // The same comparisons without making a Gid.
  bool source_is(const Gid& gid) const { return is(gid, l3() + (ipv6 ? 8 : 12)); }
  bool destination_is(const Gid& gid) const { return is(gid, l3() + (ipv6 ? 24 : 16)); }
  bool destination_is_multicast() const { return ipv6 ? l3()[24] == 0xff : l3()[16] >> 4 == 0xE; }
  // Extension headers; only where the opcode has them.
  Reth reth() const { return Reth::parse(bth + info->reth); }
  Aeth aeth() const { return Aeth::parse(bth + info->aeth); }
  Deth deth() const { return Deth::parse(bth + info->deth); }
  ImmDt imm() const { return ImmDt::parse(bth + info->imm); }
  AtomicEth atomic() const { return AtomicEth::parse(bth + info->atomic); }
  AtomicAckEth atomic_ack() const { return AtomicAckEth::parse(bth + info->atomic_ack); }
  Ieth ieth() const { return Ieth::parse(bth + info->ieth); }
  Feth feth() const { return Feth::parse(bth + info->feth); }
  XrcEth xrceth() const { return XrcEth::parse(bth + info->xrceth); }

 private:
  bool is(const Gid& gid, const uint8_t* at) const {
    const uint8_t* bytes = gid.bytes.data();
    if (ipv6) {
      return load_raw<uint64_t>(bytes) == load_raw<uint64_t>(at) &&
             load_raw<uint64_t>(bytes + 8) == load_raw<uint64_t>(at + 8);
    }
    return load_raw<uint64_t>(bytes) == 0 && load_be32(bytes + 8) == 0xFFFF &&
           load_raw<uint32_t>(bytes + 12) == load_raw<uint32_t>(at);
  }
};

// Parses a whole frame. Returns Drop::kNone and fills every field of `out`; otherwise the reason
// for the refusal, and `out` is unspecified. A payload behind an opcode that has none, and payload
// lengths that do not fit the path MTU, are for the transport to refuse (it may owe a NAK).
Drop parse_roce(std::span<const uint8_t> frame, const ParseOptions& options, ParsedFrame& out);

// The same for a frame that classify() found to be kRoce.
Drop parse_roce(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
                ParsedFrame& out);

// Verifies the IP header of a classified frame: version, header length, lengths against the frame,
// fragments, the IPv4 header checksum. On Drop::kNone `payload` is what follows the IP header
// (from info.l4_offset, options skipped) up to the end of the IP packet.
Drop check_ip(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
              std::span<const uint8_t>& payload);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_PARSE_H
