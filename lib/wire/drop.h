// SPDX-License-Identifier: BSD-3-Clause
// Every reason for which a frame is refused, by name: one list for the whole product.
#ifndef UROCE_WIRE_DROP_H
#define UROCE_WIRE_DROP_H

#include <cstddef>
#include <cstdint>

namespace uroce::wire {

// A frame that is not taken has one of these reasons, and each reason is a counter. The order is
// that of the layers; new reasons go to the end of their group (the counters are found by name).
enum class Drop : uint8_t {
  kNone,
  // Ethernet
  kEmptyFrame,
  kFrameShort,
  kEthertype,
  kRocev1,
  kVlan,
  kOwnSourceMac,
  // ARP, ICMP, IGMP and MLD
  kArpMalformed,
  kIcmpMalformed,
  kIcmpChecksum,
  kNdMalformed,
  kIgmpMalformed,
  kIgmpChecksum,
  kMldMalformed,
  // IP
  kIpVersion,
  kIpHeader,
  kIpOptions,
  kIpFragment,
  kIpChecksum,
  kIpLength,
  kFrameCut,
  kIpv6Extension,
  kIpProtocol,
  kNotForUs,
  // UDP
  kUdpLength,
  kUdpPort,
  kUdpChecksum,
  // BTH and extension headers
  kBthShort,
  kBthVersion,
  kOpcodeUnknown,
  kHeaderShort,
  kPad,
  kPayloadAlignment,
  kIcrc,
  // The engine: no queue pair or group takes it
  kQpnUnknown,
  kQpType,
  kQpState,
  kSourceAddress,
  kPkey,
  kQkey,
  kGroupUnknown,
  kGroupOffer,
  kGroupQpnMismatch,
  kGroupNoMember,
  kGroupSource,
  kCnpUnknownQp,
  kHandoffFull,
  // The transport: the queue pair does not take it
  kRecvQueueEmpty,
  kRecvBufferShort,
  kRecvBufferInvalid,
  kDuplicate,
  kOutOfOrder,
  kReorderFull,
  kReplayFull,
  kUnexpectedResponse,
  kStaleAcknowledge,
  kSyndromeReserved,
  kMessageBroken,
  kRdmaRefused,
  kPayloadLength,
  kCount,
};
inline constexpr size_t kDropCount = static_cast<size_t>(Drop::kCount);

// The counter's name, such as "icrc"; "?" for a value outside the enum. Never nullptr.
const char* drop_name(Drop drop);
// One line that says what the frame lacked. Never nullptr.
const char* drop_explanation(Drop drop);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_DROP_H
