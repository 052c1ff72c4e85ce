// SPDX-License-Identifier: BSD-3-Clause
// Tests of message lengths around every boundary, for SEND, WRITE and READ at every path MTU, and
// of the same packets inside the host.
#include "transport/completer.h"
#include "transport/model_peer.h"
#include "transport/qp_fixture.h"
#include "transport/requester.h"

namespace uroce::transport {
namespace {

// case 31
class Segmentation : public QpFixture, public ::testing::WithParamInterface<PathMtu> {
 protected:
  // Sends until nothing is left; the peer takes and acknowledges all.
  void run(ModelPeer& peer, Psn first) {
    Psn expected = first;
    for (std::vector<Sent> burst = requests(256); !burst.empty(); burst = requests(256)) {
      for (const Sent& packet : burst) {
        EXPECT_EQ(packet.frame.psn, expected);
        ++expected;
        for (const PeerPacket& answer : peer.take(packet)) response(answer);
      }
    }
  }
};

TEST_P(Segmentation, EveryLengthAroundABoundaryArrivesWhole) {
  const uint32_t mtu = bytes(GetParam());
  const uint32_t lengths[] = {mtu - 1, mtu,   mtu + 1, 2 * mtu,       2 * mtu + 1,
                              65535,   65536, 65537,   (1u << 20) + 3};
  const std::vector<uint8_t> data = ModelPeer::bytes_from(0, buffer.size());
  std::copy(data.begin(), data.end(), buffer.begin());  // registered: it stays where it is
  for (const WrOpcode opcode : {WrOpcode::kSend, WrOpcode::kRdmaWrite}) {
    for (const uint32_t length : lengths) {
      for (const bool scattered : {false, true}) {
        make(QpType::kRc, false, GetParam());
        std::vector<memory::Sge> list = {sge(7, length)};
        if (scattered) {
          list = {sge(7, 13), sge(1 << 20, length / 2), sge(2 << 20, length - 13 - length / 2)};
        }
        std::vector<uint8_t> expected;
        for (const memory::Sge& element : list) {
          const auto* from = reinterpret_cast<const uint8_t*>(element.address);
          expected.insert(expected.end(), from, from + element.length);
        }
        post_send({.opcode = opcode, .sges = list, .remote_address = 77});
        ModelPeer peer(kLocalPsn, mtu);
        run(peer, kLocalPsn);
        ASSERT_EQ(peer.messages.size(), 1u);
        EXPECT_TRUE(peer.messages[0].data == expected) << length;
        EXPECT_EQ(peer.packets_taken, (length + mtu - 1) / mtu);
        const std::vector<Cqe> cqes = send_completions();
        ASSERT_EQ(cqes.size(), 1u);
        EXPECT_EQ(cqes[0].byte_len, length);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPathMtu, Segmentation,
                         ::testing::Values(PathMtu::k256, PathMtu::k512, PathMtu::k1024,
                                           PathMtu::k2048, PathMtu::k4096));

class ReadLengths : public QpFixture, public ::testing::WithParamInterface<PathMtu> {};

// case 31
TEST_P(ReadLengths, EveryLengthAroundABoundaryArrivesWhole) {
  const uint32_t mtu = bytes(GetParam());
  const uint32_t lengths[] = {mtu - 1, mtu,   mtu + 1, 2 * mtu,       2 * mtu + 1,
                              65535,   65536, 65537,   (1u << 20) + 3};
  for (const uint32_t length : lengths) {
    for (const bool scattered : {false, true}) {
      make(QpType::kRc, false, GetParam());
      std::memset(buffer.data(), 0, buffer.size());
      const size_t second = (1 << 20) + 64;
      std::vector<memory::Sge> list = {sge(1, length)};
      if (scattered)
        list = {sge(1, 17), sge(64, length / 2), sge(second, length - 17 - length / 2)};
      post_send({.opcode = WrOpcode::kRdmaRead, .sges = list, .remote_address = 12345});
      ModelPeer peer(kLocalPsn, mtu);
      for (const Sent& packet : requests()) {
        for (const PeerPacket& answer : peer.take(packet)) response(answer);
      }
      const std::vector<Cqe> cqes = send_completions();
      ASSERT_EQ(cqes.size(), 1u);
      EXPECT_EQ(cqes[0].byte_len, length);
      uint64_t at = 12345;
      for (const memory::Sge& element : list) {
        const auto* here = reinterpret_cast<const uint8_t*>(element.address);
        const std::vector<uint8_t> expected = ModelPeer::bytes_from(at, element.length);
        EXPECT_EQ(std::memcmp(here, expected.data(), element.length), 0) << length;
        at += element.length;
        EXPECT_EQ(here[-1], 0);
        EXPECT_EQ(here[element.length], 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPathMtu, ReadLengths,
                         ::testing::Values(PathMtu::k256, PathMtu::k512, PathMtu::k1024,
                                           PathMtu::k2048, PathMtu::k4096));

uint16_t ones_complement_sum(const uint8_t* words, size_t count) {
  uint32_t sum = 0;
  for (size_t i = 0; i < count; i += 2) sum += load_be16(words + i);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

class Loopback : public QpFixture {};

// case 5: what is looped back inside the host is whole, not only what passes through a port
TEST_F(Loopback, LoopedPacketsAreByteForByteWhatAWireWouldCarry) {
  for (const uint32_t length : {0u, 1u, 1024u, 4096u}) {
    std::array<std::vector<Sent>, 2> sent;
    for (const Route route : {Route::kWire, Route::kLocal}) {
      make(QpType::kRc);
      env.ip_id = 0x1234;
      qp->attributes.av.route = route;
      fill(0, length);
      post_send({.opcode = WrOpcode::kSend, .sges = {sge(0, length)}});
      sent[route == Route::kLocal ? 1 : 0] = requests();
    }
    const auto& [wire, looped] = sent;
    ASSERT_EQ(wire.size(), std::max(1u, length / 1024));
    ASSERT_EQ(looped.size(), wire.size());
    for (size_t i = 0; i < wire.size(); ++i) {
      EXPECT_EQ(wire[i].route, Route::kWire);
      EXPECT_EQ(looped[i].route, Route::kLocal);
      EXPECT_EQ(looped[i].bytes, wire[i].bytes) << length << ", packet " << i;
      const uint8_t* ip = looped[i].bytes.data() + 14;
      const size_t ib = 12 + looped[i].payload().size() + looped[i].frame.pad;
      EXPECT_EQ(load_be16(ip + 2), 20 + 8 + ib + 4);
      EXPECT_EQ(load_be16(ip + 20 + 4), 8 + ib + 4);
      EXPECT_EQ(looped[i].bytes.size(), 14 + 20 + 8 + ib + 4);
      EXPECT_EQ(ones_complement_sum(ip, 20), 0xFFFF) << "the header checksum";
    }
  }
}

}  // namespace
}  // namespace uroce::transport
