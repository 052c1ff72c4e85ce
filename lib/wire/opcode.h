// SPDX-License-Identifier: BSD-3-Clause
// The opcode table: what each value of the BTH opcode byte means and which headers follow it.
#ifndef UROCE_WIRE_OPCODE_H
#define UROCE_WIRE_OPCODE_H

#include <array>
#include <cstdint>

namespace uroce::wire {

// BTH opcodes. Bits 7..5 name the service (RC, UC, UD, the CNP class, XRC), bits 4..0 the
// operation.
enum class Opcode : uint8_t {
  kRcSendFirst = 0x00,
  kRcSendMiddle = 0x01,
  kRcSendLast = 0x02,
  kRcSendLastImmediate = 0x03,
  kRcSendOnly = 0x04,
  kRcSendOnlyImmediate = 0x05,
  kRcWriteFirst = 0x06,
  kRcWriteMiddle = 0x07,
  kRcWriteLast = 0x08,
  kRcWriteLastImmediate = 0x09,
  kRcWriteOnly = 0x0A,
  kRcWriteOnlyImmediate = 0x0B,
  kRcReadRequest = 0x0C,
  kRcReadResponseFirst = 0x0D,
  kRcReadResponseMiddle = 0x0E,
  kRcReadResponseLast = 0x0F,
  kRcReadResponseOnly = 0x10,
  kRcAcknowledge = 0x11,
  kRcAtomicAcknowledge = 0x12,
  kRcCompareSwap = 0x13,
  kRcFetchAdd = 0x14,
  kRcSendLastInvalidate = 0x16,
  kRcSendOnlyInvalidate = 0x17,
  kRcFlush = 0x1C,
  kRcAtomicWrite = 0x1D,
  kUcSendFirst = 0x20,
  kUcSendMiddle = 0x21,
  kUcSendLast = 0x22,
  kUcSendLastImmediate = 0x23,
  kUcSendOnly = 0x24,
  kUcSendOnlyImmediate = 0x25,
  kUcWriteFirst = 0x26,
  kUcWriteMiddle = 0x27,
  kUcWriteLast = 0x28,
  kUcWriteLastImmediate = 0x29,
  kUcWriteOnly = 0x2A,
  kUcWriteOnlyImmediate = 0x2B,
  kUdSendOnly = 0x64,
  kUdSendOnlyImmediate = 0x65,
  kCnp = 0x81,
  kXrcSendFirst = 0xA0,
  kXrcSendMiddle = 0xA1,
  kXrcSendLast = 0xA2,
  kXrcSendLastImmediate = 0xA3,
  kXrcSendOnly = 0xA4,
  kXrcSendOnlyImmediate = 0xA5,
  kXrcWriteFirst = 0xA6,
  kXrcWriteMiddle = 0xA7,
  kXrcWriteLast = 0xA8,
  kXrcWriteLastImmediate = 0xA9,
  kXrcWriteOnly = 0xAA,
  kXrcWriteOnlyImmediate = 0xAB,
  kXrcReadRequest = 0xAC,
  kXrcReadResponseFirst = 0xAD,
  kXrcReadResponseMiddle = 0xAE,
  kXrcReadResponseLast = 0xAF,
  kXrcReadResponseOnly = 0xB0,
  kXrcAcknowledge = 0xB1,
  kXrcAtomicAcknowledge = 0xB2,
  kXrcCompareSwap = 0xB3,
  kXrcFetchAdd = 0xB4,
  kXrcSendLastInvalidate = 0xB6,
  kXrcSendOnlyInvalidate = 0xB7,
  kXrcFlush = 0xBC,
  kXrcAtomicWrite = 0xBD,
};

// Properties of an opcode, OR-ed in OpcodeInfo::flags.
inline constexpr uint32_t kRequest = 1u << 0;         // answered or executed by the responder
inline constexpr uint32_t kResponse = 1u << 1;        // answers a request: for the completer
inline constexpr uint32_t kFirst = 1u << 2;           // first of several packets of a message
inline constexpr uint32_t kMiddle = 1u << 3;          // neither first nor last
inline constexpr uint32_t kLast = 1u << 4;            // last of several
inline constexpr uint32_t kOnly = 1u << 5;            // the whole message
inline constexpr uint32_t kPayload = 1u << 6;         // may carry payload
inline constexpr uint32_t kReth = 1u << 7;            // headers that follow the BTH: RETH,
inline constexpr uint32_t kAeth = 1u << 8;            // AETH,
inline constexpr uint32_t kDeth = 1u << 9;            // DETH,
inline constexpr uint32_t kImm = 1u << 10;            // ImmDt,
inline constexpr uint32_t kAtomic = 1u << 11;         // AtomicETH,
inline constexpr uint32_t kAtomicAck = 1u << 12;      // AtomicAckETH,
inline constexpr uint32_t kIeth = 1u << 13;           // IETH,
inline constexpr uint32_t kFeth = 1u << 14;           // FETH,
inline constexpr uint32_t kXrceth = 1u << 15;         // XRCETH
inline constexpr uint32_t kTakesRecvWqe = 1u << 16;   // begins to use a receive work queue element
inline constexpr uint32_t kCompletesRecv = 1u << 17;  // ends with a receive completion
inline constexpr uint32_t kSend = 1u << 18;           // operation: SEND of any form,
inline constexpr uint32_t kWrite = 1u << 19;          // RDMA WRITE of any form,
inline constexpr uint32_t kRead = 1u << 20;           // READ request or response,
inline constexpr uint32_t kAtomicOp = 1u << 21;       // compare-swap, fetch-add, their answer,
inline constexpr uint32_t kAtomicWriteOp = 1u << 22;  // atomic write,
inline constexpr uint32_t kFlushOp = 1u << 23;        // flush,
inline constexpr uint32_t kAckOp = 1u << 24;          // plain acknowledge (ACK, NAK, RNR NAK),
inline constexpr uint32_t kCnpOp = 1u << 25;          // congestion notification
inline constexpr uint32_t kRc = 1u << 26;             // service: reliable connection,
inline constexpr uint32_t kUc = 1u << 27;             // unreliable connection,
inline constexpr uint32_t kUd = 1u << 28;             // unreliable datagram,
inline constexpr uint32_t kXrc = 1u << 29;            // extended reliable connection

// One row of the table. The offsets count bytes from the first byte of the BTH; 0 = header absent.
struct OpcodeInfo {
  const char* name = nullptr;  // the field's name, such as "RC SEND ONLY"; nullptr when not known
  uint32_t flags = 0;
  bool known = false;
  uint8_t header_bytes = 0;  // BTH and all extension headers
  uint8_t reth = 0;
  uint8_t aeth = 0;
  uint8_t deth = 0;
  uint8_t imm = 0;
  uint8_t atomic = 0;
  uint8_t atomic_ack = 0;
  uint8_t ieth = 0;
  uint8_t feth = 0;
  uint8_t xrceth = 0;

  // True when any flag of the mask is set.
  constexpr bool has(uint32_t mask) const { return (flags & mask) != 0; }
};

inline constexpr uint32_t kBthBytes = 12;
inline constexpr uint32_t kIcrcBytes = 4;
inline constexpr uint32_t kCnpReservedBytes = 16;

namespace opcode_table {

// Places the extension headers in their wire order: XRCETH or DETH, AETH and AtomicAckETH, FETH,
// RETH, AtomicETH, then ImmDt or IETH.
constexpr OpcodeInfo row(const char* name, uint32_t flags) {
  OpcodeInfo info;
  info.name = name;
  info.flags = flags;
  info.known = true;
  uint32_t at = kBthBytes;
  const auto place = [&](uint32_t flag, uint8_t& offset, uint32_t size) {
    if ((flags & flag) == 0) return;
    offset = static_cast<uint8_t>(at);
    at += size;
  };
  place(kXrceth, info.xrceth, 4);
  place(kDeth, info.deth, 8);
  place(kAeth, info.aeth, 4);
  place(kAtomicAck, info.atomic_ack, 8);
  place(kFeth, info.feth, 4);
  place(kReth, info.reth, 16);
  place(kAtomic, info.atomic, 28);
  place(kImm, info.imm, 4);
  place(kIeth, info.ieth, 4);
  if ((flags & kCnpOp) != 0) at += kCnpReservedBytes;
  info.header_bytes = static_cast<uint8_t>(at);
  return info;
}

struct Operation {
  uint8_t code;  // low five bits of the opcode
  const char* rc_name;
  const char* uc_name;  // nullptr: not a UC operation
  const char* xrc_name;
  uint32_t flags;
};

// One operation's three names, by service.
#define UROCE_OPERATION_NAMES(text) "RC " text, "UC " text, "XRC " text
#define UROCE_OPERATION_NAMES_RELIABLE(text) "RC " text, nullptr, "XRC " text
inline constexpr uint32_t kSendPart = kRequest | kSend | kPayload;
inline constexpr uint32_t kWritePart = kRequest | kWrite | kPayload;
inline constexpr uint32_t kReadPart = kResponse | kRead | kPayload;
inline constexpr uint32_t kWholeRecv = kTakesRecvWqe | kCompletesRecv;
inline constexpr Operation kOperations[] = {
    {0x00, UROCE_OPERATION_NAMES("SEND FIRST"), kSendPart | kFirst | kTakesRecvWqe},
    {0x01, UROCE_OPERATION_NAMES("SEND MIDDLE"), kSendPart | kMiddle},
    {0x02, UROCE_OPERATION_NAMES("SEND LAST"), kSendPart | kLast | kCompletesRecv},
    {0x03, UROCE_OPERATION_NAMES("SEND LAST WITH IMMEDIATE"),
     kSendPart | kLast | kCompletesRecv | kImm},
    {0x04, UROCE_OPERATION_NAMES("SEND ONLY"), kSendPart | kOnly | kWholeRecv},
    {0x05, UROCE_OPERATION_NAMES("SEND ONLY WITH IMMEDIATE"),
     kSendPart | kOnly | kWholeRecv | kImm},
    {0x06, UROCE_OPERATION_NAMES("RDMA WRITE FIRST"), kWritePart | kFirst | kReth},
    {0x07, UROCE_OPERATION_NAMES("RDMA WRITE MIDDLE"), kWritePart | kMiddle},
    {0x08, UROCE_OPERATION_NAMES("RDMA WRITE LAST"), kWritePart | kLast},
    {0x09, UROCE_OPERATION_NAMES("RDMA WRITE LAST WITH IMMEDIATE"),
     kWritePart | kLast | kWholeRecv | kImm},
    {0x0A, UROCE_OPERATION_NAMES("RDMA WRITE ONLY"), kWritePart | kOnly | kReth},
    {0x0B, UROCE_OPERATION_NAMES("RDMA WRITE ONLY WITH IMMEDIATE"),
     kWritePart | kOnly | kWholeRecv | kReth | kImm},
    {0x0C, UROCE_OPERATION_NAMES_RELIABLE("RDMA READ REQUEST"), kRequest | kRead | kOnly | kReth},
    {0x0D, UROCE_OPERATION_NAMES_RELIABLE("RDMA READ RESPONSE FIRST"), kReadPart | kFirst | kAeth},
    {0x0E, UROCE_OPERATION_NAMES_RELIABLE("RDMA READ RESPONSE MIDDLE"), kReadPart | kMiddle},
    {0x0F, UROCE_OPERATION_NAMES_RELIABLE("RDMA READ RESPONSE LAST"), kReadPart | kLast | kAeth},
    {0x10, UROCE_OPERATION_NAMES_RELIABLE("RDMA READ RESPONSE ONLY"), kReadPart | kOnly | kAeth},
    {0x11, UROCE_OPERATION_NAMES_RELIABLE("ACKNOWLEDGE"), kResponse | kAckOp | kOnly | kAeth},
    {0x12, UROCE_OPERATION_NAMES_RELIABLE("ATOMIC ACKNOWLEDGE"),
     kResponse | kAtomicOp | kOnly | kAeth | kAtomicAck},
    {0x13, UROCE_OPERATION_NAMES_RELIABLE("COMPARE SWAP"), kRequest | kAtomicOp | kOnly | kAtomic},
    {0x14, UROCE_OPERATION_NAMES_RELIABLE("FETCH ADD"), kRequest | kAtomicOp | kOnly | kAtomic},
    {0x16, UROCE_OPERATION_NAMES_RELIABLE("SEND LAST WITH INVALIDATE"),
     kSendPart | kLast | kCompletesRecv | kIeth},
    {0x17, UROCE_OPERATION_NAMES_RELIABLE("SEND ONLY WITH INVALIDATE"),
     kSendPart | kOnly | kWholeRecv | kIeth},
    {0x1C, UROCE_OPERATION_NAMES_RELIABLE("FLUSH"), kRequest | kFlushOp | kOnly | kFeth | kReth},
    {0x1D, UROCE_OPERATION_NAMES_RELIABLE("ATOMIC WRITE"),
     kRequest | kAtomicWriteOp | kOnly | kPayload | kReth},
};
#undef UROCE_OPERATION_NAMES
#undef UROCE_OPERATION_NAMES_RELIABLE

constexpr std::array<OpcodeInfo, 256> build() {
  std::array<OpcodeInfo, 256> table{};
  for (const Operation& operation : kOperations) {
    table[operation.code] = row(operation.rc_name, operation.flags | kRc);
    if (operation.uc_name != nullptr) {
      table[0x20u + operation.code] = row(operation.uc_name, operation.flags | kUc);
    }
    // Only requests name the XRC shared receive queue.
    const uint32_t xrceth = (operation.flags & kRequest) != 0 ? kXrceth : 0;
    table[0xA0u + operation.code] = row(operation.xrc_name, operation.flags | kXrc | xrceth);
  }
  const uint32_t datagram = kRequest | kSend | kOnly | kPayload | kWholeRecv | kDeth | kUd;
  table[0x64] = row("UD SEND ONLY", datagram);
  table[0x65] = row("UD SEND ONLY WITH IMMEDIATE", datagram | kImm);
  table[0x81] = row("CNP", kCnpOp);
  return table;
}

inline constexpr std::array<OpcodeInfo, 256> kTable = build();

}  // namespace opcode_table

// The row of any opcode byte; info.known is false for values that no table of the field assigns.
inline const OpcodeInfo& opcode_info(uint8_t opcode) { return opcode_table::kTable[opcode]; }
inline const OpcodeInfo& opcode_info(Opcode opcode) {
  return opcode_table::kTable[static_cast<uint8_t>(opcode)];
}

}  // namespace uroce::wire

#endif  // UROCE_WIRE_OPCODE_H
