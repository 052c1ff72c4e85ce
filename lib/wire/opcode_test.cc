// SPDX-License-Identifier: BSD-3-Clause
// The opcode table against the field's own list of opcodes, headers and lengths.
#include "wire/opcode.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace uroce::wire {
namespace {

struct Row {
  uint8_t opcode;
  const char* name;
  unsigned header_bytes;
  const char* properties;  // q request, s response, p payload, f/m/l/o place, w takes, c completes
};

// Written from the fact sheet, not from the table under test.
constexpr Row kRows[] = {
    {0x00, "RC SEND FIRST", 12, "qpfw"},
    {0x01, "RC SEND MIDDLE", 12, "qpm"},
    {0x02, "RC SEND LAST", 12, "qplc"},
    {0x03, "RC SEND LAST WITH IMMEDIATE", 16, "qplc"},
    {0x04, "RC SEND ONLY", 12, "qpowc"},
    {0x05, "RC SEND ONLY WITH IMMEDIATE", 16, "qpowc"},
    {0x06, "RC RDMA WRITE FIRST", 28, "qpf"},
    {0x07, "RC RDMA WRITE MIDDLE", 12, "qpm"},
    {0x08, "RC RDMA WRITE LAST", 12, "qpl"},
    {0x09, "RC RDMA WRITE LAST WITH IMMEDIATE", 16, "qplwc"},
    {0x0a, "RC RDMA WRITE ONLY", 28, "qpo"},
    {0x0b, "RC RDMA WRITE ONLY WITH IMMEDIATE", 32, "qpowc"},
    {0x0c, "RC RDMA READ REQUEST", 28, "qo"},
    {0x0d, "RC RDMA READ RESPONSE FIRST", 16, "spf"},
    {0x0e, "RC RDMA READ RESPONSE MIDDLE", 12, "spm"},
    {0x0f, "RC RDMA READ RESPONSE LAST", 16, "spl"},
    {0x10, "RC RDMA READ RESPONSE ONLY", 16, "spo"},
    {0x11, "RC ACKNOWLEDGE", 16, "so"},
    {0x12, "RC ATOMIC ACKNOWLEDGE", 24, "so"},
    {0x13, "RC COMPARE SWAP", 40, "qo"},
    {0x14, "RC FETCH ADD", 40, "qo"},
    {0x16, "RC SEND LAST WITH INVALIDATE", 16, "qplc"},
    {0x17, "RC SEND ONLY WITH INVALIDATE", 16, "qpowc"},
    {0x1c, "RC FLUSH", 32, "qo"},
    {0x1d, "RC ATOMIC WRITE", 28, "qpo"},
    {0x20, "UC SEND FIRST", 12, "qpfw"},
    {0x21, "UC SEND MIDDLE", 12, "qpm"},
    {0x22, "UC SEND LAST", 12, "qplc"},
    {0x23, "UC SEND LAST WITH IMMEDIATE", 16, "qplc"},
    {0x24, "UC SEND ONLY", 12, "qpowc"},
    {0x25, "UC SEND ONLY WITH IMMEDIATE", 16, "qpowc"},
    {0x26, "UC RDMA WRITE FIRST", 28, "qpf"},
    {0x27, "UC RDMA WRITE MIDDLE", 12, "qpm"},
    {0x28, "UC RDMA WRITE LAST", 12, "qpl"},
    {0x29, "UC RDMA WRITE LAST WITH IMMEDIATE", 16, "qplwc"},
    {0x2a, "UC RDMA WRITE ONLY", 28, "qpo"},
    {0x2b, "UC RDMA WRITE ONLY WITH IMMEDIATE", 32, "qpowc"},
    {0x64, "UD SEND ONLY", 20, "qpowc"},
    {0x65, "UD SEND ONLY WITH IMMEDIATE", 24, "qpowc"},
    {0x81, "CNP", 28, ""},
};

std::string properties_of(const OpcodeInfo& info) {
  std::string text;
  const auto add = [&](uint32_t flag, char letter) {
    if (info.has(flag)) text += letter;
  };
  add(kRequest, 'q');
  add(kResponse, 's');
  add(kPayload, 'p');
  add(kFirst, 'f');
  add(kMiddle, 'm');
  add(kLast, 'l');
  add(kOnly, 'o');
  add(kTakesRecvWqe, 'w');
  add(kCompletesRecv, 'c');
  return text;
}

TEST(Opcode, EveryRowOfTheFieldsTableIsHere) {
  for (const Row& row : kRows) {
    const OpcodeInfo& info = opcode_info(row.opcode);
    ASSERT_TRUE(info.known) << row.name;
    EXPECT_STREQ(info.name, row.name);
    EXPECT_EQ(info.header_bytes, row.header_bytes) << row.name;
    EXPECT_EQ(properties_of(info), row.properties) << row.name;
  }
}

TEST(Opcode, UnassignedValuesAreUnknown) {
  std::set<unsigned> known;
  for (const Row& row : kRows) known.insert(row.opcode);
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const bool xrc = opcode >= 0xA0 && known.count(opcode - 0xA0) != 0 && opcode < 0xC0;
    EXPECT_EQ(opcode_info(static_cast<uint8_t>(opcode)).known, known.count(opcode) != 0 || xrc)
        << std::hex << opcode;
  }
}

TEST(Opcode, XrcRequestsAreRcRequestsWithFourMoreBytes) {
  for (unsigned operation = 0; operation < 0x20; ++operation) {
    const OpcodeInfo& rc = opcode_info(static_cast<uint8_t>(operation));
    const OpcodeInfo& xrc = opcode_info(static_cast<uint8_t>(0xA0 + operation));
    ASSERT_EQ(rc.known, xrc.known) << operation;
    if (!rc.known) continue;
    EXPECT_EQ(xrc.header_bytes, rc.header_bytes + (rc.has(kRequest) ? 4 : 0)) << xrc.name;
    EXPECT_EQ(xrc.xrceth, rc.has(kRequest) ? kBthBytes : 0) << xrc.name;
    EXPECT_EQ(properties_of(xrc), properties_of(rc));
  }
}

TEST(Opcode, OffsetsFollowTheWireOrder) {
  const OpcodeInfo& write = opcode_info(Opcode::kRcWriteOnlyImmediate);
  EXPECT_EQ(write.reth, 12);
  EXPECT_EQ(write.imm, 28);  // behind the RETH
  const OpcodeInfo& datagram = opcode_info(Opcode::kUdSendOnlyImmediate);
  EXPECT_EQ(datagram.deth, 12);
  EXPECT_EQ(datagram.imm, 20);
  const OpcodeInfo& answer = opcode_info(Opcode::kRcAtomicAcknowledge);
  EXPECT_EQ(answer.aeth, 12);
  EXPECT_EQ(answer.atomic_ack, 16);
  const OpcodeInfo& flush = opcode_info(Opcode::kRcFlush);
  EXPECT_EQ(flush.feth, 12);
  EXPECT_EQ(flush.reth, 16);
  EXPECT_EQ(opcode_info(Opcode::kRcSendOnlyInvalidate).ieth, 12);
  EXPECT_EQ(opcode_info(Opcode::kRcCompareSwap).atomic, 12);
  EXPECT_EQ(opcode_info(Opcode::kRcSendOnly).reth, 0);
}

TEST(Opcode, EveryOpcodeHasOneServiceAndOneOperation) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& info = opcode_info(static_cast<uint8_t>(opcode));
    if (!info.known) continue;
    const uint32_t service = info.flags & (kRc | kUc | kUd | kXrc | kCnpOp);
    const uint32_t operation = info.flags & (kSend | kWrite | kRead | kAtomicOp | kAtomicWriteOp |
                                             kFlushOp | kAckOp | kCnpOp);
    EXPECT_EQ(__builtin_popcount(service), 1) << info.name;
    EXPECT_EQ(__builtin_popcount(operation), 1) << info.name;
  }
}

}  // namespace
}  // namespace uroce::wire
