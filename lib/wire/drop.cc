// SPDX-License-Identifier: BSD-3-Clause
// The names and explanations of the drop reasons.
#include "wire/drop.h"

#include <array>

namespace uroce::wire {
namespace {

struct Entry {
  Drop drop;
  const char* name;
  const char* explanation;
};

constexpr Entry kEntries[] = {
    {Drop::kNone, "none", "taken"},
    {Drop::kEmptyFrame, "empty_frame", "a frame of no bytes"},
    {Drop::kFrameShort, "frame_short", "the frame ends inside the Ethernet or IP header"},
    {Drop::kEthertype, "ethertype", "neither IPv4 nor IPv6 nor ARP"},
    {Drop::kRocev1, "rocev1", "RoCEv1 (Ethertype 0x8915), which is not spoken here"},
    {Drop::kVlan, "vlan", "not of the configured VLAN, or more than one tag"},
    {Drop::kOwnSourceMac, "own_source_mac", "our own frame, seen again on a shared port"},
    {Drop::kArpMalformed, "arp_malformed", "ARP that is cut short or not Ethernet and IPv4"},
    {Drop::kIcmpMalformed, "icmp_malformed", "ICMP or ICMPv6 message that is cut short"},
    {Drop::kIcmpChecksum, "icmp_checksum", "wrong checksum of an ICMP or ICMPv6 message"},
    {Drop::kNdMalformed, "nd_malformed",
     "neighbour discovery with a hop limit below 255, a bad option or target"},
    {Drop::kIgmpMalformed, "igmp_malformed", "IGMP message that is cut short or of unknown type"},
    {Drop::kIgmpChecksum, "igmp_checksum", "wrong checksum of an IGMP message"},
    {Drop::kMldMalformed, "mld_malformed",
     "MLD message that is cut short, or without hop limit 1 and a link-local source"},
    {Drop::kIpVersion, "ip_version", "the IP version is not that of the Ethertype"},
    {Drop::kIpHeader, "ip_header", "IPv4 header length below 20 bytes or beyond the packet"},
    {Drop::kIpOptions, "ip_options", "RoCE in IPv4 with options"},
    {Drop::kIpFragment, "ip_fragment", "an IP fragment; nothing is reassembled here"},
    {Drop::kIpChecksum, "ip_checksum", "wrong IPv4 header checksum"},
    {Drop::kIpLength, "ip_length", "the IP length leaves no room for the next header"},
    {Drop::kFrameCut, "frame_cut", "the IP packet is longer than the frame: cut on its way"},
    {Drop::kIpv6Extension, "ipv6_extension", "IPv6 extension header that is not expected"},
    {Drop::kIpProtocol, "ip_protocol", "IP protocol that is not spoken here"},
    {Drop::kNotForUs, "not_for_us", "the destination is no address of this port and no group"},
    {Drop::kUdpLength, "udp_length", "the UDP length is not the IP payload length"},
    {Drop::kUdpPort, "udp_port", "the UDP destination port is not 4791"},
    {Drop::kUdpChecksum, "udp_checksum", "wrong UDP checksum"},
    {Drop::kBthShort, "bth_short", "the packet ends inside the BTH"},
    {Drop::kBthVersion, "bth_version", "transport header version is not 0"},
    {Drop::kOpcodeUnknown, "opcode_unknown", "an opcode that nobody has assigned"},
    {Drop::kHeaderShort, "header_short",
     "cut short: the packet ends inside the headers of its opcode or the ICRC"},
    {Drop::kPad, "pad", "the pad count is larger than the payload"},
    {Drop::kPayloadAlignment, "payload_alignment", "payload and pad are no multiple of 4 bytes"},
    {Drop::kIcrc, "icrc", "wrong ICRC"},
    {Drop::kQpnUnknown, "qpn_unknown", "no such queue pair"},
    {Drop::kQpType, "qp_type", "the opcode is not of the queue pair's type"},
    {Drop::kQpState, "qp_state", "the queue pair's state takes no such packet"},
    {Drop::kSourceAddress, "source_address",
     "not from the peer that the queue pair is connected to"},
    {Drop::kPkey, "pkey", "partition key does not match"},
    {Drop::kQkey, "qkey", "queue key does not match"},
    {Drop::kGroupUnknown, "group_unknown", "a multicast group that nobody here is attached to"},
    {Drop::kGroupOffer, "group_offer", "another engine's offer of a group that has no member here"},
    {Drop::kGroupQpnMismatch, "group_qpn_mismatch",
     "group address without QPN 0xFFFFFF, or the other way round"},
    {Drop::kGroupNoMember, "group_no_member", "no member of the group could take it"},
    {Drop::kGroupSource, "group_source", "no member of the group is attached to its source"},
    {Drop::kCnpUnknownQp, "cnp_unknown_qp", "congestion notification for no queue pair of ours"},
    {Drop::kHandoffFull, "handoff_full", "the ring to the engine that owns the queue pair is full"},
    {Drop::kRecvQueueEmpty, "recv_queue_empty", "no receive is posted"},
    {Drop::kRecvBufferShort, "recv_buffer_short", "the posted receive is too short"},
    {Drop::kRecvBufferInvalid, "recv_buffer_invalid", "the posted receive has a bad local key"},
    {Drop::kDuplicate, "duplicate", "a PSN that was taken before"},
    {Drop::kOutOfOrder, "out_of_order", "a PSN ahead of the expected one"},
    {Drop::kReorderFull, "reorder_full", "no room to keep a packet that came too early"},
    {Drop::kReplayFull, "replay_full", "a repeated READ or atomic that is no longer remembered"},
    {Drop::kUnexpectedResponse, "unexpected_response", "an answer that nothing waits for"},
    {Drop::kStaleAcknowledge, "stale_acknowledge", "an acknowledgement of what was acknowledged"},
    {Drop::kSyndromeReserved, "syndrome_reserved", "an AETH syndrome that nobody has assigned"},
    {Drop::kMessageBroken, "message_broken",
     "a middle or last packet of no message, or a lost one"},
    {Drop::kRdmaRefused, "rdma_refused", "remote key, range or access right refused"},
    {Drop::kPayloadLength, "payload_length", "payload length does not fit the opcode or path MTU"},
};

constexpr bool entries_match_the_enum() {
  size_t next = 0;
  for (const Entry& entry : kEntries) {
    if (static_cast<size_t>(entry.drop) != next++) return false;
  }
  return next == kDropCount;
}
static_assert(entries_match_the_enum(), "one entry for each reason, in order");

}  // namespace

const char* drop_name(Drop drop) {
  const auto index = static_cast<size_t>(drop);
  return index < kDropCount ? kEntries[index].name : "?";
}

const char* drop_explanation(Drop drop) {
  const auto index = static_cast<size_t>(drop);
  return index < kDropCount ? kEntries[index].explanation : "no such reason";
}

}  // namespace uroce::wire
