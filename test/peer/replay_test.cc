// SPDX-License-Identifier: BSD-3-Clause
// The requests of a foreign stack, as they were captured, draw the answers that it drew from its
// own kind.
//
// What a capture fixed (QPN, PSN, R_Key, virtual address: the .log beside it) our responder is
// given before the first frame. Each request goes in alone, and what comes out before the next one
// is compared with what the capture has there. What may differ, and nothing else does: MigReq (rxe
// never sets it), the credits in an ACK's syndrome, the UDP source port and the IP identification,
// and so the checksum and the ICRC, which must be right.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "capture/reader.h"
#include "engine/engine_fixture.h"
#include "wire/icrc.h"

namespace uroce::engine {
namespace {

constexpr uint32_t kServer = 0xC6120002, kClient = 0xC6120003;  // 198.18.0.2, 198.18.0.3
constexpr size_t kHeaders = 14 + 20 + 8;
constexpr size_t kBth = 12, kIcrc = 4;
constexpr size_t kRegion = 0x10000;  // where the captured region lies in our memory
constexpr size_t kRegionBytes = 16384;
constexpr uint32_t kReceiveBytes = 4096;
constexpr uint8_t kReadRequest = 0x0C;

// What the guests said of their ends: "server case send qp 0x19 psn 0x1100 rkey 0x89d addr … mtu
// 1024".
struct End {
  Qpn qpn;
  Psn psn;
  Key rkey;
  uint64_t address = 0;
  uint32_t mtu = 0;
};

End read_end(const std::string& log, const std::string& role) {
  End end;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(role + " case ")) continue;
    std::istringstream words(line);
    for (std::string word, value; words >> word;) {
      if (word == "qp" && words >> value) end.qpn = Qpn(uint32_t(std::stoul(value, nullptr, 0)));
      if (word == "psn" && words >> value) end.psn = Psn(uint32_t(std::stoul(value, nullptr, 0)));
      if (word == "rkey" && words >> value) end.rkey = Key(uint32_t(std::stoul(value, nullptr, 0)));
      if (word == "addr" && words >> value) end.address = std::stoull(value, nullptr, 0);
      if (word == "mtu" && words >> value) end.mtu = uint32_t(std::stoul(value));
    }
  }
  return end;
}

bool is_roce(const Bytes& frame) {
  return frame.size() >= kHeaders + kBth + kIcrc && load_be16(&frame[12]) == 0x0800 &&
         frame[23] == 17 && load_be16(&frame[36]) == 4791;
}

// The part of an answer that two right responders agree about, readable in a failure.
std::string essence(const Bytes& frame) {
  std::ostringstream text;
  text << std::hex << "from " << load_be32(&frame[26]) << " to " << load_be32(&frame[30]);
  Bytes rest(frame.begin() + kHeaders, frame.end() - kIcrc);
  const uint8_t opcode = rest[0];
  rest[1] &= 0xBF;                                             // MigReq
  if (opcode == 0x11 && rest[kBth] >> 5 == 0) rest[kBth] = 0;  // the credits of an ACK
  text << " opcode " << unsigned{opcode} << " bytes";
  for (const uint8_t byte : rest) text << ' ' << unsigned{byte};
  return text.str();
}

class Replay : public ::testing::Test {
 protected:
  void open(const std::string& name, QpType type = QpType::kRc) {
    const std::string stem = std::string(UROCE_CAPTURES) + "/" + name;
    std::ifstream file(stem + ".log");
    const std::string log{std::istreambuf_iterator<char>(file), {}};
    server_ = read_end(log, "server");
    client_ = read_end(log, "client");
    ASSERT_NE(server_.qpn, Qpn{}) << "no server in " << stem << ".log";
    ASSERT_NE(client_.qpn, Qpn{});
    capture::CaptureReader reader;
    ASSERT_EQ(reader.open((stem + ".pcap").c_str()), 0) << reader.error();
    capture::CapturedFrame frame;
    while (reader.next(frame) == capture::CaptureReader::Result::kFrame) {
      Bytes bytes(frame.bytes.begin(), frame.bytes.end());
      if (is_roce(bytes)) captured_.push_back(std::move(bytes));
    }
    ASSERT_FALSE(captured_.empty());
    set_up(type);
  }

  // A queue pair and a region that look to the requests as the server's did.
  void set_up(QpType type) {
    using namespace transport;
    constexpr uint32_t kAccess = memory::kRemoteWrite | memory::kRemoteRead | memory::kRemoteAtomic;
    const LocalAddress own[] = {{Gid::from_ipv4(kServer), 24}};
    SetAddressesCommand addresses;
    addresses.addresses = own;
    ASSERT_EQ(device_.run(0, addresses), 0);
    device_.keys.publish(server_.rkey,
                         {device_.memory.data() + kRegion, server_.address, kRegionBytes,
                          TestDevice::kPd, memory::kLocalWrite | kAccess});
    qp_ = device_.create_at(type, 0, server_.qpn.value(), 0);
    QpAttributes x;
    x.state = QpState::kInit;
    x.access = kAccess;
    ASSERT_EQ(device_.modify(*qp_, x, kAttrState | kAttrPkeyIndex | kAttrPort | kAttrAccessFlags),
              0);
    x.state = QpState::kRtr;
    x.av = address_vector(Gid::from_ipv4(kServer), Gid::from_ipv4(kClient), device_.mac,
                          {{0x02, 0xc6, 0x12, 0, 0, 0x03}});
    x.path_mtu = client_.mtu == 512 ? PathMtu::k512 : PathMtu::k1024;
    x.dest_qpn = client_.qpn;
    x.rq_psn = client_.psn;
    x.dest_rd_atomic_max = 4;
    x.min_rnr_timer = 1;
    const uint32_t answers = type == QpType::kRc ? kAttrMaxDestRdAtomic | kAttrMinRnrTimer : 0u;
    ASSERT_EQ(
        device_.modify(*qp_, x,
                       kAttrState | kAttrAv | kAttrPathMtu | kAttrDestQpn | kAttrRqPsn | answers),
        0);
  }

  static bool is_request(const Bytes& frame) { return load_be32(&frame[26]) == kClient; }

  // Gives one request to the responder; what it answers until nothing moves.
  std::vector<Bytes> answers_to(const Bytes& request) {
    device_.receive(request);
    for (int turns = 0; turns < 100 && device_.turn() != 0; ++turns) {
    }
    std::vector<Bytes> answers;
    answers.swap(device_.outbox);
    return answers;
  }

  // Every request in turn, and its answers against the capture's. Returns how many were compared.
  size_t replay() {
    size_t compared = 0;
    for (size_t at = 0; at < captured_.size();) {
      EXPECT_TRUE(is_request(captured_[at])) << "an answer to nothing in the capture";
      const std::vector<Bytes> answers = answers_to(captured_[at]);
      const std::string request = "request " + std::to_string(at + 1) + ", PSN " +
                                  std::to_string(load_be32(&captured_[at][kHeaders + 8]));
      size_t given = 0;
      for (++at; at < captured_.size() && !is_request(captured_[at]); ++at, ++given) {
        if (given >= answers.size()) continue;
        EXPECT_EQ(essence(answers[given]), essence(captured_[at])) << request;
        EXPECT_EQ(answers[given][kHeaders + 1] & 0x40, 0x40) << "MigReq, " << request;
        const auto covered = static_cast<uint32_t>(answers[given].size() - 14 - kIcrc);
        EXPECT_EQ(wire::icrc(&answers[given][14], false, covered),
                  wire::load_icrc(&answers[given][14 + covered]));
        ++compared;
      }
      EXPECT_EQ(answers.size(), given) << request;
    }
    EXPECT_EQ(device_.dropped(), 0u);
    return compared;
  }

  static TestDeviceOptions options() {
    TestDeviceOptions result;
    result.number = 2;
    result.own_port = false;
    return result;
  }

  // The patterns of the programs in the guests.
  static uint8_t client_byte(size_t i) { return static_cast<uint8_t>(7 * i + 1); }
  static uint8_t server_byte(size_t i) { return static_cast<uint8_t>(5 * i + 3); }
  void expect_client_bytes(size_t offset, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(device_.memory[offset + i], client_byte(i)) << "byte " << i << " of " << count;
    }
  }

  TestDevice device_{options()};
  std::unique_ptr<TestQp> qp_;
  End server_, client_;
  std::vector<Bytes> captured_;
};

TEST_F(Replay, SendsAreAcknowledgedAndReceivedAsByThePeersOwnKind) {
  open("rc-send-1024");
  for (uint32_t i = 0; i < 16; ++i) qp_->post_recv(i * kReceiveBytes, kReceiveBytes, i);
  EXPECT_EQ(replay(), 12u);
  const std::vector<Cqe> received = qp_->received();
  const uint32_t lengths[] = {0, 1, 2, 3, 4, 5, 63, 1023, 1024, 1025, 2048, 3075};
  ASSERT_EQ(received.size(), std::size(lengths));
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].byte_len, lengths[i]);
    expect_client_bytes(i * kReceiveBytes, lengths[i]);
    EXPECT_EQ(device_.memory[i * kReceiveBytes + lengths[i]], 0) << "behind message " << i;
  }
}

TEST_F(Replay, WritesLandWhereTheyShouldAndAreAcknowledgedAsByThePeersOwnKind) {
  open("rc-write-512");
  EXPECT_EQ(replay(), 12u);
  expect_client_bytes(kRegion, 3 * 512 + 3);
  for (size_t i = 3 * 512 + 3; i < kRegionBytes; ++i) {
    ASSERT_EQ(device_.memory[kRegion + i], 0) << "behind the last write, byte " << i;
  }
}

TEST_F(Replay, ReadsAreAnsweredByteForByteAsByThePeersOwnKind) {
  open("rc-read-1024");
  for (size_t i = 0; i < kRegionBytes; ++i) device_.memory[kRegion + i] = server_byte(i);
  EXPECT_EQ(captured_.front()[kHeaders], kReadRequest);
  EXPECT_EQ(replay(), 17u);
}

TEST_F(Replay, AtomicsAreAnsweredWithTheSameOldValues) {
  open("rc-atomics");
  for (size_t i = 0; i < 64; ++i) device_.memory[kRegion + i] = server_byte(i);
  EXPECT_EQ(replay(), 7u);
  EXPECT_EQ(load_raw<uint64_t>(&device_.memory[kRegion]), 0x1122334455667788u);
}

// DU-02: the answer to the second FETCH_ADD was lost on the way and its request came again.
TEST_F(Replay, ALostAtomicAnswerIsGivenAgainAndTheWordChangesOnce) {
  open("loss-atomic-ack");
  for (size_t i = 0; i < 64; ++i) device_.memory[kRegion + i] = server_byte(i);
  EXPECT_EQ(replay(), 7u);
  EXPECT_EQ(device_.context(*qp_).resp.msn, 6u);
}

TEST_F(Replay, AnAtomicWithAWrongKeyIsRefusedAsByThePeersOwnKind) {
  open("nak-access-atomic");
  EXPECT_EQ(replay(), 1u);
  EXPECT_EQ(device_.context(*qp_).state, QpState::kErr);
}

TEST_F(Replay, UnreliableWritesLandAndNobodyAnswers) {
  open("uc-write", QpType::kUc);
  EXPECT_EQ(replay(), 0u);
  expect_client_bytes(kRegion, 3075);
  EXPECT_EQ(device_.memory[kRegion + 3075], 0);
}

TEST_F(Replay, UnreliableSendsAreReceivedWithTheirImmediateData) {
  open("uc-send-imm", QpType::kUc);
  for (uint32_t i = 0; i < 16; ++i) qp_->post_recv(i * kReceiveBytes, kReceiveBytes, i);
  EXPECT_EQ(replay(), 0u);
  const std::vector<Cqe> received = qp_->received();
  ASSERT_EQ(received.size(), 12u);
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(__builtin_bswap32(received[i].immediate_be), 0xA0000000u + received[i].byte_len);
    expect_client_bytes(i * kReceiveBytes, received[i].byte_len);
  }
}

}  // namespace
}  // namespace uroce::engine
