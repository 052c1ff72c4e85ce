// SPDX-License-Identifier: BSD-3-Clause
// The short lines for ARP, ICMP, neighbour discovery, IGMP and MLD, and addresses as text.
#include "wire/format_link.h"

#include "wire/arp.h"
#include "wire/format.h"
#include "wire/icmp.h"
#include "wire/igmp.h"
#include "wire/mld.h"
#include "wire/nd.h"

namespace uroce::wire {
namespace {

// A line shows this many records of a report; the count says how many there are.
constexpr unsigned kRecordsShown = 4;

struct Address {
  char text[kAddressTextBytes];
  explicit Address(const Gid& gid) { format_address(text, sizeof text, gid); }
  explicit Address(uint32_t ipv4) : Address(Gid::from_ipv4(ipv4)) {}
};

void add_refusal(TextLine& line, const char* what, Drop drop) {
  line.add("%s refused %s: %s", what, drop_name(drop), drop_explanation(drop));
}

void add_mac(TextLine& line, const MacAddress& mac) {
  const auto& b = mac.bytes;
  line.add("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
}

void add_arp(TextLine& line, std::span<const uint8_t> frame, const L3Info& info) {
  ArpMessage arp;
  const Drop drop = parse_arp(frame, info, arp);
  if (drop != Drop::kNone) return add_refusal(line, "ARP", drop);
  if (arp.operation == ArpMessage::kRequest) {
    line.add("ARP who has %s, tell %s", Address(arp.target_ip).text, Address(arp.sender_ip).text);
  } else {
    line.add("ARP %s is at ", Address(arp.sender_ip).text);
    add_mac(line, arp.sender_mac);
  }
}

void add_icmp(TextLine& line, std::span<const uint8_t> frame, const L3Info& info,
              const ParseOptions& options) {
  IcmpMessage icmp;
  const char* name = info.ipv6 ? "ICMPv6" : "ICMP";
  const Drop drop = parse_icmp(frame, info, options, icmp);
  if (drop != Drop::kNone) return add_refusal(line, name, drop);
  line.add("%s > %s %s", Address(icmp.source).text, Address(icmp.destination).text, name);
  switch (icmp.kind) {
    case IcmpKind::kEchoRequest:
    case IcmpKind::kEchoReply:
      line.add(" echo %s id %u sequence %u",
               icmp.kind == IcmpKind::kEchoRequest ? "request" : "reply", icmp.echo_id,
               icmp.echo_sequence);
      break;
    case IcmpKind::kPacketTooBig:
      line.add(" packet too big, MTU %u", icmp.mtu);
      break;
    case IcmpKind::kPortUnreachable:
      line.add(" port unreachable");
      break;
    case IcmpKind::kOther:
      line.add(" type %u code %u", icmp.type, icmp.code);
      break;
  }
}

void add_nd(TextLine& line, std::span<const uint8_t> frame, const L3Info& info,
            const ParseOptions& options) {
  NdMessage nd;
  const Drop drop = parse_nd(frame, info, options, nd);
  if (drop != Drop::kNone) return add_refusal(line, "ND", drop);
  line.add("%s > %s ND", Address(nd.source).text, Address(nd.destination).text);
  if (nd.kind == NdKind::kRouter) {
    line.add(" router message type %u", frame[info.l4_offset]);
    return;
  }
  line.add(" %s %s", nd.kind == NdKind::kSolicitation ? "who has" : "advertises",
           Address(nd.target).text);
  if (nd.has_link_address) {
    line.add(nd.kind == NdKind::kSolicitation ? " from " : " at ");
    add_mac(line, nd.link_address);
  }
}

const char* record_name(RecordType type) {
  switch (type) {
    case RecordType::kModeIsInclude:
      return "is-include";
    case RecordType::kModeIsExclude:
      return "is-exclude";
    case RecordType::kChangeToInclude:
      return "to-include";
    case RecordType::kChangeToExclude:
      return "to-exclude";
    case RecordType::kAllowNewSources:
      return "allow";
    case RecordType::kBlockOldSources:
      return "block";
  }
  return "unknown";
}

void add_membership(TextLine& line, const char* protocol, bool ipv6,
                    const MembershipMessage& message) {
  line.add("%s > %s %sv%u", Address(message.source).text, Address(message.destination).text,
           protocol, message.version);
  switch (message.kind) {
    case MembershipKind::kQuery:
      line.add(" query %s within %u ms",
               message.group.is_zero() ? "all groups" : Address(message.group).text,
               message.max_response_ms);
      return;
    case MembershipKind::kReport:
      line.add(" report %s", Address(message.group).text);
      return;
    case MembershipKind::kLeave:
      line.add(" leave %s", Address(message.group).text);
      return;
    case MembershipKind::kRecordReport:
      break;
  }
  line.add(" report, %u record%s", message.record_count, message.record_count == 1 ? "" : "s");
  std::span<const uint8_t> rest = message.records;
  GroupRecord record;
  for (unsigned i = 0; i < message.record_count && next_record(rest, ipv6, record); ++i) {
    if (i == kRecordsShown) {
      line.add(", …");
      break;
    }
    line.add("%s %s %s", i == 0 ? ":" : ",", record_name(record.type), Address(record.group).text);
  }
}

void add_igmp(TextLine& line, std::span<const uint8_t> frame, const L3Info& info,
              const ParseOptions& options) {
  MembershipMessage message;
  const Drop drop = parse_igmp(frame, info, options, message);
  if (drop != Drop::kNone) return add_refusal(line, "IGMP", drop);
  add_membership(line, "IGMP", false, message);
}

void add_mld(TextLine& line, std::span<const uint8_t> frame, const L3Info& info,
             const ParseOptions& options) {
  MembershipMessage message;
  const Drop drop = parse_mld(frame, info, options, message);
  if (drop != Drop::kNone) return add_refusal(line, "MLD", drop);
  add_membership(line, "MLD", true, message);
}

}  // namespace

size_t format_address(char* to, size_t capacity, const Gid& address) {
  TextLine line(to, capacity);
  const auto& bytes = address.bytes;
  if (address.is_ipv4()) {
    line.add("%u.%u.%u.%u", bytes[12], bytes[13], bytes[14], bytes[15]);
    return line.length();
  }
  // The longest run of zero words, the first of equals, becomes "::" (RFC 5952).
  const auto word = [&](int i) { return load_be16(bytes.data() + 2 * i); };
  int best = -1;
  int best_length = 1;
  for (int i = 0; i < 8; ++i) {
    int length = 0;
    while (i + length < 8 && word(i + length) == 0) ++length;
    if (length > best_length) {
      best = i;
      best_length = length;
    }
  }
  for (int i = 0; i < 8; ++i) {
    if (i == best) {
      line.add("::");
      i += best_length - 1;
      continue;
    }
    const bool colon = i != 0 && i != best + best_length;
    line.add("%s%x", colon || (best < 0 && i != 0) ? ":" : "", word(i));
  }
  return line.length();
}

void add_ip_addresses(TextLine& line, std::span<const uint8_t> frame, const L3Info& info) {
  const uint8_t* l3 = frame.data() + info.l3_offset;
  const Gid source = load_address(l3 + (info.ipv6 ? 8 : 12), info.ipv6);
  const Gid destination = load_address(l3 + (info.ipv6 ? 24 : 16), info.ipv6);
  line.add("%s > %s", Address(source).text, Address(destination).text);
  if (info.has_vlan) line.add(" vlan %u prio %u", info.vlan_tci & kVlanIdMask, info.vlan_tci >> 13);
}

void add_link_frame(TextLine& line, std::span<const uint8_t> frame, const L3Info& info,
                    const ParseOptions& options) {
  switch (info.kind) {
    case FrameKind::kArp:
      return add_arp(line, frame, info);
    case FrameKind::kIcmp:
    case FrameKind::kIcmpv6:
      return add_icmp(line, frame, info, options);
    case FrameKind::kNd:
      return add_nd(line, frame, info, options);
    case FrameKind::kIgmp:
      return add_igmp(line, frame, info, options);
    case FrameKind::kMld:
      return add_mld(line, frame, info, options);
    case FrameKind::kRoce:
    case FrameKind::kOther:
      break;
  }
  line.add("not RoCE %s: %s", drop_name(info.not_roce), drop_explanation(info.not_roce));
}

}  // namespace uroce::wire
