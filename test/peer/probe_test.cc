// SPDX-License-Identifier: BSD-3-Clause
// Odd packets from a hand-made peer: our queue pair answers each as rxe's did, or as the row says
// why it must not.
//
// A probe's frames go to a fresh queue pair with eight receives of 4096 bytes and a region that
// peers may write, read and use for atomics, as the guest had (captures/README.md). `ours` is what
// we answer where rxe answers otherwise: "ACK 500", "NAK61 501", "RNR 508", "READ 500" …; one word
// for each packet. `our_end` likewise: the state of the queue pair, and the sizes of its receives.
// The reasons are in doc/conformance.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "test/peer/replay_bed.h"

namespace uroce::peer {
namespace {

struct Row {
  const char* probe;
  const char* ours = nullptr;     // nullptr: as rxe
  const char* our_end = nullptr;  // nullptr: as rxe's program saw it (probe/ends.txt)
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.probe; }

std::string answer_text(const Packet& packet) {
  const wire::ParsedFrame& x = packet.fields;
  char text[64];
  const unsigned psn = x.psn.value();
  const auto opcode = static_cast<uint8_t>(x.opcode);
  if (opcode == 0x11) {
    const uint8_t syndrome = x.aeth().syndrome;
    const auto kind = wire::Aeth::kind_of(syndrome);
    if (kind == wire::AethKind::kAck) {
      std::snprintf(text, sizeof text, "ACK %x", psn);
    } else if (kind == wire::AethKind::kRnrNak) {
      std::snprintf(text, sizeof text, "RNR %x", psn);
    } else {
      std::snprintf(text, sizeof text, "NAK%x %x", unsigned{syndrome}, psn);
    }
  } else if (opcode == 0x12) {
    std::snprintf(text, sizeof text, "ATOMIC %x", psn);
  } else {
    static constexpr const char* kReads[] = {"FIRST", "MIDDLE", "LAST", "ONLY"};
    std::snprintf(text, sizeof text, "%s %x", kReads[(opcode - 0x0D) & 3], psn);
  }
  return text;
}

std::string all_text(const std::vector<std::string>& answers) {
  std::string text;
  for (const std::string& answer : answers) text += (text.empty() ? "" : ", ") + answer;
  return text;
}

class Probe : public ::testing::TestWithParam<Row> {
 protected:
  static constexpr uint32_t kGuest = 0xC6120002, kPeer = 0xC6120001;

  static Place place_of(const std::string& name, Qpn qpn) {
    Place place;
    place.type = name.starts_with("uc-") && name != "uc-on-rc"   ? engine::QpType::kUc
                 : name.starts_with("ud-") && name != "ud-on-rc" ? engine::QpType::kUd
                                                                 : engine::QpType::kRc;
    place.own = Gid::from_ipv4(kGuest);
    place.peer = Gid::from_ipv4(kPeer);
    place.own_mac = {{0x02, 0xc6, 0x12, 0, 0, 2}};
    place.peer_mac = {{0x02, 0xc6, 0x12, 0, 0, 1}};
    place.own_qpn = qpn;
    place.peer_qpn = Qpn(0x4321);
    place.expected = Psn(0x500);
    place.first = Psn(0x1500);
    return place;
  }

  // What the guest's program saw: the state of its queue pair, and the sizes of its receives.
  static std::string their_end(const std::string& name) {
    std::ifstream file(capture_path("probe/ends.txt"));
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(name + " ")) return line.substr(name.size() + 1);
    }
    return "no line in ends.txt";
  }
  static std::string our_end(ReplayBed& bed) {
    std::string text = std::to_string(static_cast<unsigned>(bed.device.context(*bed.qp).state));
    for (const engine::Cqe& cqe : bed.qp->received()) {
      if (cqe.status == transport::WcStatus::kSuccess) text += " " + std::to_string(cqe.byte_len);
    }
    return text;
  }

  // The region is where the first packet that names one looks for it; a misaligned address or one
  // further on leaves room before it.
  static void open(ReplayBed& bed, const Story& story) {
    for (const Packet& packet : story.packets) {
      if (!packet.parses) continue;
      const wire::ParsedFrame& x = packet.fields;
      if (x.info->reth == 0 && x.info->atomic == 0) continue;
      const Key key = x.info->reth != 0 ? x.reth().rkey : x.atomic().rkey;
      const uint64_t address = x.info->reth != 0 ? x.reth().address : x.atomic().address;
      return bed.open(key, address & ~uint64_t{0xFFF});
    }
  }
};

TEST_P(Probe, DrawsTheAnswerOfThePeersOwnKindOrOneWithAReason) {
  const Story story = read_story(capture_path("probe/") + GetParam().probe);
  Qpn qpn;
  for (const Packet& packet : story.packets) {
    if (packet.from != Gid::from_ipv4(kGuest)) qpn = Qpn(load_be32(&packet.frame[46]) & 0xFFFFFF);
  }
  ReplayBed bed(place_of(GetParam().probe, qpn), 4096);
  open(bed, story);
  for (uint32_t i = 0; i < 8; ++i) bed.qp->post_recv(0x80000 + size_t{i} * 4096, 4096, i);
  std::vector<std::string> ours, theirs;
  for (const Packet& packet : story.packets) {
    if (packet.from == Gid::from_ipv4(kGuest)) {
      theirs.push_back(answer_text(packet));
      continue;
    }
    for (const Packet& answer : bed.receive(packet.frame)) ours.push_back(answer_text(answer));
  }
  const std::string rxe = all_text(theirs);
  EXPECT_EQ(all_text(ours), GetParam().ours == nullptr ? rxe : GetParam().ours) << "rxe: " << rxe;
  if (GetParam().ours != nullptr) {
    EXPECT_NE(rxe, GetParam().ours) << "no difference any more";
  }
  EXPECT_EQ(our_end(bed),
            GetParam().our_end == nullptr ? their_end(GetParam().probe) : GetParam().our_end);
}

const Row kRows[] = {
    {"ack-unasked"},
    {"atomic-cut"},
    {"atomic-duplicate"},
    {"atomic-misaligned"},
    {"cnp"},
    {"ecn-bits"},
    {"ecn-late"},
    {"first-only"},
    {"first-short", "NAK61 500", "6"},
    {"icrc"},
    {"last-first"},
    {"middle-first"},
    {"migreq"},
    {"mixed-first"},
    {"no-ackreq"},
    {"only-long", "NAK61 500", "6"},
    {"opcode-reserved"},
    {"pad-too-big"},
    {"pkey-limited"},
    {"pkey"},
    {"psn-ahead-no-ackreq"},
    {"psn-ahead"},
    {"psn-behind", "ACK 4ff, ACK 500, ACK 500, ACK 500"},
    {"psn-far", "NAK60 500, ACK 4ff, ACK 500"},
    {"qpn-0"},
    {"qpn"},
    {"read-duplicate", "FIRST 500, LAST 501, FIRST 500, LAST 501, ONLY 501"},
    {"read-flood"},
    {"read-huge", "NAK61 500"},
    {"rnr", "ACK 500, ACK 501, ACK 502, ACK 503, ACK 504, ACK 505, ACK 506, ACK 507, RNR 508"},
    {"send-write-read"},
    {"source-address"},
    {"source-port-0"},
    {"source-port"},
    {"trailer"},
    {"ttl-1"},
    {"tver"},
    {"uc-middle-first"},
    {"uc-on-rc"},
    {"uc-psn"},
    {"ud-on-rc"},
    {"ud-pkey"},
    {"ud-qkey-high"},
    {"udp-sum-wrong"},
    {"udp-sum"},
    {"write-huge", "NAK61 500"},
    {"write-last-long"},
    {"write-long"},
    {"write-short"},
};

std::string row_name(const ::testing::TestParamInfo<Row>& info) {
  std::string name = info.param.probe;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Captures, Probe, ::testing::ValuesIn(kRows), row_name);

}  // namespace
}  // namespace uroce::peer
