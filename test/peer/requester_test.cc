// SPDX-License-Identifier: BSD-3-Clause
// Our requester, fed the answers that a foreign stack gave to its own kind, ends with the
// completions that the foreign program saw.
//
// The work requests are read back from the captured requests: one for each message, with its
// opcode, address, key, immediate and bytes, posted when its first packet was captured. The answers
// come at the times at which they were captured, except those that a test lost on purpose. Timers
// run in between. Where nothing was lost our packets are the captured ones, byte for byte of what
// two right requesters agree about.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "test/peer/replay_bed.h"

namespace uroce::peer {
namespace {

using engine::Cqe;
using transport::WrOpcode;

enum class Packets : uint8_t {
  kSame,       // ours are the captured ones
  kRecovered,  // something was lost or refused on the way: when what goes again is our own business
};

struct Row {
  const char* capture;
  Packets packets = Packets::kSame;
  std::vector<LostPacket> lost{};
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.capture; }

// A message of the captured requester.
struct Message {
  transport::SendWqe wqe{};
  Bytes payload;
  Duration at{};
  Psn first;
  uint32_t length = 0;
  size_t offset = 0;  // in our memory
};

WrOpcode work_opcode(wire::Opcode opcode, bool immediate) {
  switch (static_cast<uint8_t>(opcode) & 0x1F) {
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x0A:
    case 0x0B:
      return immediate ? WrOpcode::kRdmaWriteWithImm : WrOpcode::kRdmaWrite;
    case 0x0C:
      return WrOpcode::kRdmaRead;
    case 0x13:
      return WrOpcode::kAtomicCmpSwap;
    case 0x14:
      return WrOpcode::kAtomicFetchAdd;
    case 0x16:
    case 0x17:
      return WrOpcode::kSendWithInvalidate;
    default:
      return immediate ? WrOpcode::kSendWithImm : WrOpcode::kSend;
  }
}

void add_headers(const wire::ParsedFrame& x, Message& message) {
  if (x.info->reth != 0) {
    message.wqe.remote_address = x.reth().address;
    message.wqe.rkey = x.reth().rkey.value();
    message.length = x.reth().length_bytes;
  }
  if (x.info->atomic != 0) {
    const wire::AtomicEth atomic = x.atomic();
    const bool swap = x.opcode == wire::Opcode::kRcCompareSwap;
    message.wqe.remote_address = atomic.address;
    message.wqe.rkey = atomic.rkey.value();
    message.wqe.swap = atomic.swap_or_add;
    message.wqe.compare_add = swap ? atomic.compare : atomic.swap_or_add;
    message.length = 8;
  }
  if (x.info->imm != 0) std::memcpy(&message.wqe.immediate_be, x.bth + x.info->imm, 4);
  if (x.info->ieth != 0) message.wqe.immediate_be = x.ieth().rkey.value();
  if (x.info->deth != 0) {
    message.wqe.remote_qpn = x.dest_qpn.value();
    message.wqe.remote_qkey = x.deth().qkey;
  }
}

// The messages of a flow in PSN order. Packets may have been captured several times, and in any
// order: each counts once.
std::vector<Message> messages_of(const Flow& flow, const Place& place) {
  std::map<uint32_t, const Packet*> by_psn;  // distance from the first PSN
  for (const Packet* packet : flow.packets) {
    if (!packet->answer()) {
      by_psn.try_emplace((packet->fields.psn - place.first.value()).value(), packet);
    }
  }
  std::vector<Message> messages;
  bool inside = false;
  uint32_t read_end = 0;  // a READ takes the PSNs of its responses; inside, its rest was asked for
  for (const auto& [distance, packet] : by_psn) {
    const wire::ParsedFrame& x = packet->fields;
    if (distance < read_end) continue;
    if (x.opcode == wire::Opcode::kRcReadRequest) {
      read_end = distance + (x.reth().length_bytes + place.mtu - 1) / place.mtu;
    }
    if (!inside) {
      messages.emplace_back();
      messages.back().at = packet->at;
      messages.back().first = x.psn;
    }
    Message& message = messages.back();
    const Bytes payload = packet->payload();
    message.payload.insert(message.payload.end(), payload.begin(), payload.end());
    add_headers(x, message);
    message.at = std::min(message.at, packet->at);
    const bool last = x.info->has(wire::kLast | wire::kOnly);
    if (last) {
      message.wqe.opcode = work_opcode(x.opcode, x.info->imm != 0);
      message.wqe.flags = static_cast<uint8_t>(transport::kSendSignaled |
                                               (x.solicited() ? transport::kSendSolicited : 0));
      message.length = std::max(message.length, static_cast<uint32_t>(message.payload.size()));
    }
    inside = !last;
  }
  return messages;
}

class Requester : public ::testing::TestWithParam<Row> {
 protected:
  // Posts what is due; messages keep their order even where their first packets did not.
  void post_until(ReplayBed& bed, std::vector<Message>& messages, Duration now) {
    for (; next_ < messages.size() && messages[next_].at <= now; ++next_) {
      Message& message = messages[next_];
      message.offset = free_;
      free_ += (size_t{message.length} + 63) & ~size_t{63};
      ASSERT_LE(free_, bed.device.memory.size());
      std::ranges::copy(message.payload,
                        bed.device.memory.begin() + static_cast<ptrdiff_t>(message.offset));
      message.wqe.wr_id = next_ + 1;
      if (bed.place.type == engine::QpType::kUd) {
        transport::SendQueue& queue = bed.qp->queues->send;
        transport::SendQueue::address_vector(queue.wqe(queue.producer.load())) =
            engine::address_vector(bed.place.own, bed.place.peer, bed.place.own_mac,
                                   bed.place.peer_mac);
      }
      bed.qp->post(message.wqe, message.offset, message.length);
      keep(bed.settle());
    }
  }

  // Timers up to a moment of the story.
  void pass_time(ReplayBed& bed, Duration until) {
    const Time end = start_ + until;
    while (bed.device.poll_timeout() <= end) {
      bed.device.now = std::max(bed.device.now, bed.device.poll_timeout());
      keep(bed.settle());
    }
    bed.device.now = std::max(bed.device.now, end);
  }

  void keep(std::vector<Packet> packets) {
    for (Packet& packet : packets) {
      ASSERT_TRUE(packet.parses);
      EXPECT_TRUE(wire::icrc_ok(packet.fields));
      sent_.push_back(essence(packet));
    }
  }

  bool is_lost(const Packet& packet) {
    for (const LostPacket& lost : GetParam().lost) {
      if (lost.answer && Psn(lost.psn) == packet.fields.psn) return ++seen_ == lost.nth;
    }
    return false;
  }

  void play(ReplayBed& bed, const Flow& flow, std::vector<Message>& messages) {
    start_ = bed.device.now;
    for (const Packet* packet : flow.packets) {
      pass_time(bed, packet->at);
      post_until(bed, messages, packet->at);
      if (packet->answer() && !is_lost(*packet)) keep(bed.receive(packet->frame));
    }
    // What is left to be given up.
    for (int i = 0; i < 1000 && bed.device.poll_timeout() != kNever; ++i) {
      pass_time(bed, bed.device.poll_timeout() - start_);
    }
  }

  void compare_packets(const Flow& flow) {
    std::vector<std::string> wanted;
    for (const Packet* packet : flow.packets) {
      if (!packet->answer()) wanted.push_back(essence(*packet));
    }
    ASSERT_EQ(sent_.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(sent_[i], wanted[i]) << "request " << i;
  }

  // READs and atomics brought what the captured answers carried.
  void compare_data(ReplayBed& bed, const Flow& flow, const std::vector<Message>& messages) {
    for (const Packet* packet : flow.packets) {
      const wire::ParsedFrame& x = packet->fields;
      const auto opcode = static_cast<uint8_t>(x.opcode);
      if (!packet->answer() || opcode == 0x11) continue;
      for (const Message& message : messages) {
        const uint32_t ahead = (x.psn - message.first.value()).value();
        if (x.info->atomic_ack != 0) {
          if (ahead != 0) continue;
          const uint64_t original = x.atomic_ack().original;
          EXPECT_EQ(std::memcmp(&bed.device.memory[message.offset], &original, 8), 0);
          continue;
        }
        if (uint64_t{ahead} * bed.place.mtu >= message.length) continue;
        EXPECT_EQ(packet->payload(),
                  bed.device.bytes_at(message.offset + ahead * bed.place.mtu, x.payload_length));
      }
    }
  }

  void compare_completions(ReplayBed& bed) {
    static const std::map<std::string, transport::WcOpcode> kOpcodes = {
        {"SEND", transport::WcOpcode::kSend},
        {"WRITE", transport::WcOpcode::kRdmaWrite},
        {"READ", transport::WcOpcode::kRdmaRead},
        {"COMP_SWAP", transport::WcOpcode::kCompSwap},
        {"FETCH_ADD", transport::WcOpcode::kFetchAdd},
    };
    const std::vector<Cqe> sent = bed.qp->sent();
    const auto& logged = story_.client.completions;
    // A request that the program posted behind the fault never reached the wire: it is in no
    // capture, and the program saw it flushed.
    size_t flushed = 0;
    for (const LoggedCompletion& one : logged) flushed += one.status == 5;
    ASSERT_EQ(sent.size(), logged.size() - flushed);
    for (size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(static_cast<int>(sent[i].status), logged[i].status) << i;
      EXPECT_EQ(sent[i].wr_id, i + 1);
      if (logged[i].status != 0) continue;
      EXPECT_EQ(sent[i].opcode, kOpcodes.at(logged[i].opcode)) << i;
      if (logged[i].opcode == "READ") {
        EXPECT_EQ(sent[i].byte_len, logged[i].bytes);
      }
    }
  }

  Story story_;
  Time start_{};
  size_t next_ = 0, free_ = 0;
  uint32_t seen_ = 0;
  std::vector<std::string> sent_;
};

TEST_P(Requester, EndsWithTheCompletionsOfThePeersOwnKind) {
  story_ = read_story(capture_path(GetParam().capture));
  const std::vector<Flow> flows = flows_of(story_);
  ASSERT_FALSE(flows.empty());
  for (const Flow& flow : flows) {
    sent_.clear();
    next_ = free_ = seen_ = 0;
    ReplayBed bed(requester_place(story_, flow));
    std::vector<Message> messages = messages_of(flow, bed.place);
    ASSERT_FALSE(messages.empty());
    play(bed, flow, messages);
    ASSERT_EQ(next_, messages.size());
    if (GetParam().packets == Packets::kSame) compare_packets(flow);
    compare_data(bed, flow, messages);
    if (!story_.client.completions.empty()) {
      compare_completions(bed);
    } else {
      EXPECT_EQ(bed.qp->sent().size(), messages.size());
    }
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
    {"rc-peer-gone", Packets::kRecovered},
    {"nak-rnr", Packets::kRecovered},
    {"nak-rnr-timer18", Packets::kRecovered},
    {"nak-rnr-out", Packets::kRecovered},
    {"nak-access-write"},
    {"nak-access-read"},
    {"nak-access-atomic"},
    {"nak-access-range"},
    {"nak-access-readonly"},
    {"nak-invalid-length"},
    {"loss-middle", Packets::kRecovered},
    {"loss-last", Packets::kRecovered},
    {"loss-ack", Packets::kRecovered, {{0x10b, true}}},
    {"loss-read-response", Packets::kRecovered, {{0x105, true}}},
    {"loss-read-request", Packets::kRecovered},
    {"loss-atomic-ack", Packets::kRecovered, {{0x101, true}}},
    {"loss-write-first", Packets::kRecovered},
    {"loss-random", Packets::kRecovered},
    {"loss-reorder", Packets::kRecovered},
    {"loss-duplicate", Packets::kRecovered},
    {"uc-pingpong"},
    {"uc-send-imm"},
    {"uc-write"},
    {"uc-write-imm-v6"},
    {"ud-sizes"},
    {"ud-sizes-v6"},
};

std::string row_name(const ::testing::TestParamInfo<Row>& info) {
  std::string name = info.param.capture;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Captures, Requester, ::testing::ValuesIn(kRows), row_name);

}  // namespace
}  // namespace uroce::peer
