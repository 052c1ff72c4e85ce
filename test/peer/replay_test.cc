// SPDX-License-Identifier: BSD-3-Clause
// The requests of a foreign stack, as they were captured, draw from our responder the answers that
// they drew from its own kind.
//
// What a capture fixed (QPN, PSN, R_Key, virtual address: the packets and the .log beside them)
// our responder is given before the first frame. The requests go in one by one, and what comes out
// is compared with what the capture has: type, PSN, MSN, syndrome and payload. A row of the table
// says where a right answer of ours differs from rxe's; doc/conformance.md has the reasons.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "test/peer/replay_bed.h"

namespace uroce::peer {
namespace {

constexpr size_t kHalf = engine::TestDevice::kMemoryBytes / 2;  // where the guests receive

enum class Answers : uint8_t {
  kSame,       // packet by packet
  kRecovered,  // after loss: other packets on the way, the same last word
  kNone,       // there are none: UC, UD
};

struct Row {
  const char* capture;
  Answers answers = Answers::kSame;
  std::vector<LostPacket> lost{};
  uint32_t key_slots = 256;
  bool rnr_alone = false;         // rxe lets a sequence NAK follow an RNR NAK; we do not
  bool too_long_is_0x61 = false;  // rxe answers a SEND that is too long with 0x63
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.capture; }

class Replay : public ::testing::TestWithParam<Row> {
 protected:
  // A server's memory: its pattern in the first half, receives in the second. Programs other than
  // the guests' own do not say what they have: what the answers show is put there.
  void fill(ReplayBed& bed, const Flow& flow) {
    const Row& row = GetParam();
    const End& end = story_.server;
    std::map<uint32_t, uint64_t> keys;  // and the lowest address asked for under each
    for (const Packet* packet : flow.packets) {
      if (packet->answer()) continue;
      uint32_t key = 0;
      uint64_t address = 0;
      if (packet->fields.info->reth != 0) {
        const wire::Reth reth = packet->fields.reth();
        key = reth.rkey.value();
        address = reth.address;
      } else if (packet->fields.info->atomic != 0) {
        key = packet->fields.atomic().rkey.value();
        address = packet->fields.atomic().address;
      } else {
        continue;
      }
      const auto [at, fresh] = keys.try_emplace(key, address);
      if (!fresh) at->second = std::min(at->second, address);
    }
    base_ = end.address;
    if (end.qpn != 0) {
      bed.open(Key(end.rkey), base_);
      for (size_t i = 0; i < kHalf; ++i) bed.device.memory[i] = static_cast<uint8_t>(5 * i + 3);
      if (std::string(row.capture) == "nak-access-readonly") {
        bed.open(Key(keys.begin()->first), base_, memory::kRemoteRead);
      }
    } else if (!keys.empty()) {
      base_ = keys.begin()->second;
      bed.open(Key(keys.begin()->first), base_);
      learn(bed, flow);
    }
  }

  // READ responses and the first atomic's answer tell what lay there.
  void learn(ReplayBed& bed, const Flow& flow) {
    bool atomic_seen = false;
    uint64_t at = 0;
    for (const Packet* packet : flow.packets) {
      const wire::ParsedFrame& x = packet->fields;
      if (x.opcode == wire::Opcode::kRcReadRequest) at = x.reth().address - base_;
      if (!packet->answer()) continue;
      std::copy_n(x.payload, x.payload_length, &bed.device.memory[at]);
      at += x.payload_length;
      if (x.info->atomic_ack != 0 && !atomic_seen) {
        const uint64_t original = x.atomic_ack().original;
        std::memcpy(bed.device.memory.data(), &original, sizeof original);
        atomic_seen = true;
      }
    }
  }

  void post_receives(ReplayBed& bed) {
    if (std::string(GetParam().capture).starts_with("nak-rnr")) return;
    if (std::string(GetParam().capture) == "nak-invalid-length") {
      bed.qp->post_recv(kHalf, 40, 1);
      bed.qp->post_recv(kHalf, 1034, 2);
      return;
    }
    for (size_t i = 0; i < 64; ++i) bed.qp->post_recv(kHalf, kHalf, i + 1);
  }

  static Gid server_ipv4() { return Gid::from_ipv4(0xC6120002); }
  static Gid server_ipv6() {
    return Gid{{0xfd, 0, 0xc6, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  }

  bool is_lost(const Packet& packet) {
    for (const LostPacket& lost : GetParam().lost) {
      if (lost.answer == packet.answer() && Psn(lost.psn) == packet.fields.psn) {
        return ++seen_[lost.psn] == lost.nth;
      }
    }
    return false;
  }

  // In the RNR captures the server posts its receive when it is ready: before the request that
  // drew an ACK.
  void post_when_ready(ReplayBed& bed, const Flow& flow, size_t at) {
    if (!std::string(GetParam().capture).starts_with("nak-rnr")) return;
    while (++at < flow.packets.size() && !flow.packets[at]->answer()) {
    }
    if (at == flow.packets.size()) return;
    const wire::Aeth aeth = flow.packets[at]->fields.aeth();
    if (wire::Aeth::kind_of(aeth.syndrome) == wire::AethKind::kAck) {
      if (!posted_) bed.qp->post_recv(kHalf, kHalf, 1);
      posted_ = true;
    } else {
      posted_ = false;
    }
  }

  std::vector<std::string> expected(const Flow& flow) {
    std::vector<std::string> result;
    bool after_rnr = false;
    for (const Packet* packet : flow.packets) {
      if (!packet->answer()) continue;
      std::string text = essence(*packet);
      const uint8_t syndrome =
          packet->fields.info->aeth == 0 ? uint8_t{0} : packet->fields.aeth().syndrome;
      if (GetParam().rnr_alone && after_rnr && syndrome == 0x60) continue;
      after_rnr = wire::Aeth::kind_of(syndrome) == wire::AethKind::kRnrNak;
      if (GetParam().too_long_is_0x61 && syndrome == 0x63) {
        text.replace(text.find("0x63"), 4, "0x61");
      }
      result.push_back(std::move(text));
    }
    return result;
  }

  // Where nothing is lost or refused: what a SEND carried lies in its receive, what a WRITE carried
  // where it said.
  void follow_payload(const Packet& packet) {
    const wire::ParsedFrame& x = packet.fields;
    if (x.info->has(wire::kFirst | wire::kOnly)) message_.clear();
    const Bytes payload = packet.payload();
    message_.insert(message_.end(), payload.begin(), payload.end());
    if (x.info->reth != 0) write_at_ = x.reth().address - base_;
  }
  void check_payload(ReplayBed& bed, const Packet& packet) {
    const std::string name = GetParam().capture;
    if (GetParam().answers == Answers::kRecovered || name.starts_with("nak-") || name == "ud-bad") {
      return;
    }
    const wire::OpcodeInfo& info = *packet.fields.info;
    if (!info.has(wire::kLast | wire::kOnly) || message_.empty()) return;
    if (info.has(wire::kWrite)) {
      EXPECT_EQ(bed.device.bytes_at(write_at_, message_.size()), message_);
    } else if (info.has(wire::kSend)) {
      const size_t header = bed.place.type == engine::QpType::kUd ? 40 : 0;
      EXPECT_EQ(bed.device.bytes_at(kHalf + header, message_.size()), message_);
    }
  }

  std::vector<std::string> play(ReplayBed& bed, const Flow& flow) {
    std::vector<std::string> given;
    for (size_t i = 0; i < flow.packets.size(); ++i) {
      const Packet& packet = *flow.packets[i];
      if (packet.answer() || is_lost(packet)) continue;
      post_when_ready(bed, flow, i);
      follow_payload(packet);
      for (const Packet& answer : bed.receive(packet.frame)) {
        EXPECT_TRUE(answer.parses);
        if (!answer.parses) continue;
        EXPECT_TRUE(wire::icrc_ok(answer.fields));
        EXPECT_TRUE(answer.fields.mig_req());  // case 91: the requests have it clear
        if (answer.answer()) given.push_back(essence(answer));
      }
      check_payload(bed, packet);
    }
    return given;
  }

  void compare(const std::vector<std::string>& given, const std::vector<std::string>& wanted) {
    if (GetParam().answers == Answers::kRecovered) {
      ASSERT_FALSE(given.empty());
      EXPECT_EQ(given.back(), wanted.back());
      return;
    }
    EXPECT_EQ(wanted.empty(), GetParam().answers == Answers::kNone);
    ASSERT_EQ(given.size(), wanted.size());
    for (size_t i = 0; i < given.size(); ++i) EXPECT_EQ(given[i], wanted[i]) << "answer " << i;
  }

  // What the server's program said of its receives, we say too.
  void compare_completions(ReplayBed& bed) {
    const std::vector<engine::Cqe> received = bed.qp->received();
    std::vector<engine::Cqe> live;
    for (const engine::Cqe& cqe : received) {
      if (cqe.status != transport::WcStatus::kWrFlushErr) live.push_back(cqe);
    }
    const auto& logged = story_.server.completions;
    ASSERT_EQ(live.size(), logged.size());
    for (size_t i = 0; i < logged.size(); ++i) {
      const bool failed = logged[i].opcode.empty();
      EXPECT_EQ(live[i].status == transport::WcStatus::kSuccess, !failed) << i;
      if (failed) continue;
      EXPECT_EQ(live[i].opcode, logged[i].opcode == "RECV" ? transport::WcOpcode::kRecv
                                                           : transport::WcOpcode::kRecvRdmaWithImm);
      EXPECT_EQ(live[i].byte_len, logged[i].bytes) << i;
      EXPECT_EQ((live[i].wc_flags & transport::kWcWithImm) != 0, logged[i].has_imm) << i;
      if (logged[i].has_imm) {
        EXPECT_EQ(__builtin_bswap32(live[i].immediate_be), logged[i].imm);
      }
      EXPECT_EQ(live[i].src_qpn, logged[i].source_qpn) << i;
    }
    if (story_.server.final_state >= 0) {
      EXPECT_EQ(static_cast<int>(bed.device.context(*bed.qp).state), story_.server.final_state);
    }
  }

  Story story_;
  uint64_t base_ = 0;
  Bytes message_;
  uint64_t write_at_ = 0;
  bool posted_ = false;
  std::map<uint32_t, uint32_t> seen_;
};

TEST_P(Replay, ResponderAnswersAsThePeersOwnKindDid) {
  story_ = read_story(capture_path(GetParam().capture));
  const std::vector<Flow> flows = flows_of(story_);
  ASSERT_FALSE(flows.empty());
  for (const Flow& flow : flows) {
    Flow here = flow;
    if (flow.to.is_multicast()) here.to = flow.to.is_ipv4() ? server_ipv4() : server_ipv6();
    Place place = responder_place(story_, here);
    if (flow.to.is_multicast()) place.own_qpn = Qpn(story_.server.qpn);
    ReplayBed bed(place, GetParam().key_slots);
    if (flow.to.is_multicast()) {
      ASSERT_EQ(bed.device.attach(*bed.qp, flow.to), 0);
    }
    seen_.clear();
    posted_ = false;
    fill(bed, flow);
    post_receives(bed);
    const std::vector<std::string> given = play(bed, flow);
    compare(given,
            GetParam().answers == Answers::kNone ? std::vector<std::string>{} : expected(flow));
    if (story_.server.qpn != 0) compare_completions(bed);
  }
}

const Row kRows[] = {
    {"rc-pingpong-small"},
    {"rc-pingpong-multi"},
    {"rc-pingpong-v6-4096"},
    {"rc-write-long-256"},
    {"rc-srq-pingpong"},
    {"rc-send-1024"},
    {"rc-send-imm-256"},
    {"rc-send-srq"},
    {"rc-write-512"},
    {"rc-write-imm-1024"},
    {"rc-read-1024"},
    {"rc-read-v6-256"},
    {"rc-read-many"},
    {"rc-atomics"},
    {"rc-inline"},
    {"rc-gather"},
    {"rc-batch"},
    {"rc-mixed"},
    {"rc-psn-wrap"},
    {"rc-tclass"},
    {"rc-perf-write-bw"},
    {"rc-perf-read-lat"},
    {"rc-perf-atomic-fa"},
    {"rc-perf-atomic-cs"},
    {"rc-zero-bad-rkey"},
    {"nak-rnr"},
    {"nak-rnr-timer18", Answers::kSame, {}, 256, true},
    {"nak-rnr-out"},
    {"nak-access-write"},
    {"nak-access-read"},
    {"nak-access-atomic"},
    {"nak-access-range"},
    {"nak-access-readonly"},
    {"nak-invalid-length", Answers::kSame, {}, 256, false, true},
    {"loss-middle", Answers::kRecovered, {{0x105}}},
    {"loss-last", Answers::kRecovered, {{0x10b}}},
    {"loss-ack", Answers::kRecovered},
    {"loss-read-response", Answers::kRecovered},
    {"loss-read-request", Answers::kRecovered, {{0x104}}},
    {"loss-atomic-ack", Answers::kRecovered},
    {"loss-write-first", Answers::kRecovered, {{0x104}}},
    {"loss-random", Answers::kRecovered},
    {"loss-reorder", Answers::kRecovered},
    {"loss-duplicate", Answers::kRecovered},
    {"uc-pingpong", Answers::kNone},
    {"uc-send-imm", Answers::kNone},
    {"uc-write", Answers::kNone},
    {"uc-write-imm-v6", Answers::kNone},
    {"ud-pingpong", Answers::kNone},
    {"ud-sizes", Answers::kNone},
    {"ud-sizes-v6", Answers::kNone},
    {"ud-bad", Answers::kNone},
    {"mcast-verbs-v4", Answers::kNone},
    {"mcast-verbs-v6", Answers::kNone},
};

std::string row_name(const ::testing::TestParamInfo<Row>& info) {
  std::string name = info.param.capture;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Captures, Replay, ::testing::ValuesIn(kRows), row_name);

}  // namespace
}  // namespace uroce::peer
