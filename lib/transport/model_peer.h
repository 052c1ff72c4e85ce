// SPDX-License-Identifier: BSD-3-Clause
// Test support: the other end of an RC connection in its plainest form, for tests of the requester
// and the completer. It takes requests in PSN order, answers at once and remembers everything.
#ifndef UROCE_TRANSPORT_MODEL_PEER_H
#define UROCE_TRANSPORT_MODEL_PEER_H

#include <algorithm>
#include <vector>

#include "transport/qp_fixture.h"

namespace uroce::transport {

class ModelPeer {
 public:
  using Opcode = wire::Opcode;
  struct Message {
    WrOpcode opcode;
    std::vector<uint8_t> data;  // READ: empty
    uint32_t immediate_be;
    uint64_t address;  // of the RETH
    uint32_t length;   // of the RETH
  };

  ModelPeer(Psn expected, uint32_t mtu_bytes) : expected_(expected), mtu_bytes_(mtu_bytes) {}

  std::vector<Message> messages;  // taken whole, in order; a READ counts when asked first
  uint32_t packets_taken = 0;

  // What the peer's memory holds from an address on: a pattern that repeats only every 64 KiB.
  static std::vector<uint8_t> bytes_from(uint64_t address, size_t count) {
    static const std::vector<uint8_t> pattern = [] {
      std::vector<uint8_t> bytes(size_t{1} << 16);
      for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<uint8_t>(i * 151 + (i >> 8) * 7 + 3);
      }
      return bytes;
    }();
    std::vector<uint8_t> out;
    out.reserve(count);
    while (out.size() < count) {
      const size_t at = (address + out.size()) % pattern.size();
      const size_t piece = std::min(count - out.size(), pattern.size() - at);
      out.insert(out.end(), pattern.begin() + static_cast<long>(at),
                 pattern.begin() + static_cast<long>(at + piece));
    }
    return out;
  }

  // Takes one packet; returns the answers.
  std::vector<PeerPacket> take(const Sent& sent) {
    const int32_t distance = sent.frame.psn.distance_from(expected_);
    if (distance > 0) {
      if (nak_sent_) return {};
      nak_sent_ = true;
      return {acknowledge(expected_, wire::Aeth::nak(wire::NakCode::kPsnSequence))};
    }
    if (sent.opcode() == Opcode::kRcReadRequest) return take_read(sent, distance == 0);
    if (distance < 0) return {acknowledge(sent.frame.psn)};
    nak_sent_ = false;
    take_part(sent);
    ++expected_;
    ++packets_taken;
    if (!sent.frame.ack_request()) return {};
    return {acknowledge(sent.frame.psn)};
  }

 private:
  PeerPacket acknowledge(Psn psn, uint8_t syndrome = wire::Aeth::kAckNoCredits) const {
    return {.opcode = Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, msn_}};
  }
  void take_part(const Sent& sent) {
    const wire::OpcodeInfo& info = *sent.frame.info;
    EXPECT_EQ(info.has(wire::kFirst | wire::kOnly), !inside_);
    if (!inside_) part_ = {};
    if (info.reth != 0) {
      part_.address = sent.reth().address;
      part_.length = sent.reth().length_bytes;
    }
    const std::vector<uint8_t> payload = sent.payload();
    part_.data.insert(part_.data.end(), payload.begin(), payload.end());
    inside_ = !info.has(wire::kLast | wire::kOnly);
    if (inside_) {
      EXPECT_EQ(payload.size(), mtu_bytes_);
      return;
    }
    EXPECT_LE(payload.size(), mtu_bytes_);
    const bool immediate = info.imm != 0;
    if (immediate) part_.immediate_be = sent.frame.imm().network_order;
    if (info.has(wire::kWrite)) {
      EXPECT_EQ(part_.data.size(), part_.length);
      part_.opcode = immediate ? WrOpcode::kRdmaWriteWithImm : WrOpcode::kRdmaWrite;
    } else {
      part_.opcode = immediate ? WrOpcode::kSendWithImm : WrOpcode::kSend;
    }
    messages.push_back(part_);
    ++msn_;
  }
  std::vector<PeerPacket> take_read(const Sent& sent, bool fresh) {
    const wire::Reth reth = sent.reth();
    const uint32_t packets = std::max(1u, (reth.length_bytes + mtu_bytes_ - 1) / mtu_bytes_);
    EXPECT_EQ(sent.frame.payload_length, 0u);
    EXPECT_TRUE(sent.frame.ack_request());
    if (fresh) {
      EXPECT_FALSE(inside_);
      nak_sent_ = false;
      messages.push_back({WrOpcode::kRdmaRead, {}, 0, reth.address, reth.length_bytes});
      expected_ = expected_ + packets;
      ++packets_taken;
      ++msn_;
    }
    std::vector<PeerPacket> answers;
    for (uint32_t i = 0; i < packets; ++i) {
      const bool last = i + 1 == packets;
      PeerPacket p = acknowledge(sent.frame.psn + i);
      p.opcode = packets == 1 ? Opcode::kRcReadResponseOnly
                 : i == 0     ? Opcode::kRcReadResponseFirst
                 : last       ? Opcode::kRcReadResponseLast
                              : Opcode::kRcReadResponseMiddle;
      const uint32_t offset = i * mtu_bytes_;
      p.payload =
          bytes_from(reth.address + offset, std::min(mtu_bytes_, reth.length_bytes - offset));
      answers.push_back(std::move(p));
    }
    return answers;
  }

  Psn expected_;
  const uint32_t mtu_bytes_;
  uint32_t msn_ = 0;
  bool nak_sent_ = false;
  bool inside_ = false;
  Message part_{};
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_MODEL_PEER_H
