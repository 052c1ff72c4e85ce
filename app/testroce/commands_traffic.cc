// SPDX-License-Identifier: BSD-3-Clause
// Commands that move data and judge what came.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "testroce/commands.h"

namespace uroce::testroce {
namespace {

constexpr std::chrono::seconds kExpectLimit{5};         // what is expected has this long to come
constexpr std::chrono::milliseconds kExpectSettle{20};  // and nothing more may come for so long

std::string name_of(const QueuePair& qp) { return "qp " + std::to_string(qp.id); }

void require_ready(const QueuePair& qp) {
  if (qp.ready) return;
  throw std::runtime_error(
      name_of(qp) + (qp.type == IB_QPT_UD ? " is not active yet: activate qp ID QKEY"
                                          : " is not connected yet: connect qp or connect pair"));
}

void require_count(uint32_t count) {
  if (count == 0) throw std::runtime_error("COUNT is 0: give at least 1");
}

// Posts `count` requests, as many at once as there are slots, and waits for their completions.
// `post` gets the number of the message, which names its slot. Requests of an earlier command that
// ran out of time are in front, and complete first.
void run_traffic(Session& session, QueuePair& qp, const char* what, uint32_t count,
                 const std::function<void(uint64_t message)>& post) {
  require_ready(qp);
  require_count(count);
  const uint64_t first = qp.sent;
  const uint64_t target = first + count;
  const uint64_t wrong_before = qp.read_wrong;
  qp.error.clear();
  const auto advance = [&] {
    while (qp.error.empty() && qp.sent < target && qp.sent - qp.completed < kSendSlots) {
      post(qp.sent);
      ++qp.sent;
    }
    return !qp.error.empty() || qp.completed == target;
  };
  const bool done = session.run_until(advance, kTrafficLimit);
  const std::string summary = name_of(qp) + ": " + what + ": ";
  if (!qp.error.empty()) throw std::runtime_error(summary + qp.error);
  if (!done) {
    const uint64_t earlier = qp.completed < first ? first - qp.completed : 0;
    std::string sentence = summary + std::to_string(target - std::max(qp.completed, first)) +
                           " of " + std::to_string(count) + " not completed after 10 s";
    if (earlier != 0) sentence += ", nor " + std::to_string(earlier) + " of earlier commands";
    throw std::runtime_error(sentence);
  }
  if (qp.read_wrong != wrong_before) {
    throw std::runtime_error(summary + std::to_string(qp.read_wrong - wrong_before) +
                             " messages read without the pattern");
  }
  std::printf("qp %u: %s: %u completed\n", qp.id, what, count);
}

void require_length(const QueuePair& qp, uint32_t length) {
  const uint32_t most = qp.type == IB_QPT_UD ? kDatagramMax : kMessageMax;
  if (length > most) {
    throw std::runtime_error(std::to_string(length) + " bytes are too many: at most " +
                             std::to_string(most));
  }
}

void require_type(const QueuePair& qp, ib_qp_type type, const char* instead) {
  if (qp.type != type) throw std::runtime_error(name_of(qp) + ": " + instead);
}

// The message's slot, filled with the pattern.
app::SendRange filled_slot(QueuePair& qp, uint64_t message, uint32_t length) {
  const uint32_t offset = QueuePair::send_offset(message);
  fill_pattern(qp.endpoint->buffer() + offset, length, static_cast<uint8_t>(message * 5 + qp.id));
  return {.offset = offset, .length = length, .wr_id = message};
}

void send_rc(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  require_type(qp, IB_QPT_RC, "a UD message needs a destination: to, group or qp");
  require_length(qp, parsed.length);
  run_traffic(session, qp, "send", parsed.count, [&](uint64_t message) {
    app::check(qp.endpoint->post_send(filled_slot(qp, message, parsed.length)), "ib_post_send");
  });
}

void send_datagrams(Session& session, const Parsed& parsed, const ib_gid& destination,
                    uint32_t qpn) {
  QueuePair& qp = session.qp(parsed.id);
  require_type(qp, IB_QPT_UD, "an RC message goes to the peer that it is connected to");
  require_length(qp, parsed.length);
  // Lives as long as the command: what is posted keeps the address.
  const app::AddressHandle address(*qp.endpoint, destination,
                                   app::source_gid(qp.endpoint->device(), destination).index);
  const app::DatagramTarget target{address.get(), qpn, parsed.key};
  run_traffic(session, qp, "send", parsed.count, [&](uint64_t message) {
    app::check(qp.endpoint->post_datagram(filled_slot(qp, message, parsed.length), target),
               "ib_post_send");
  });
}

void send_to(Session& session, const Parsed& parsed) {
  send_datagrams(session, parsed, parse_address(parsed.address), parsed.qpn);
}

void send_group(Session& session, const Parsed& parsed) {
  ib_gid group{};
  check_group(uroce_parse_mcast(parsed.address, &group, nullptr));
  send_datagrams(session, parsed, group, IB_MULTICAST_QPN);
}

void send_qp(Session& session, const Parsed& parsed) {
  const QueuePair& peer = session.qp(parsed.peer);
  send_datagrams(session, parsed, own_address(peer.endpoint->device()),
                 peer.endpoint->qp()->qp_num);
}

void rdma(Session& session, const Parsed& parsed, uint64_t remote, uint32_t rkey) {
  QueuePair& qp = session.qp(parsed.id);
  require_type(qp, IB_QPT_RC, "a UD queue pair has no WRITE and no READ");
  require_length(qp, parsed.length);
  const bool read = std::strcmp(parsed.verb, "read") == 0;
  run_traffic(session, qp, parsed.verb, parsed.count, [&](uint64_t message) {
    app::SendRange range{.offset = QueuePair::send_offset(message),
                         .length = parsed.length,
                         .wr_id = message | kReadMark};
    if (read) {
      std::memset(qp.endpoint->buffer() + range.offset, 0, parsed.length);
    } else {
      range = filled_slot(qp, message, parsed.length);
    }
    const ib_wr_opcode opcode = read ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE;
    app::check(qp.endpoint->post_rdma(opcode, range, remote, rkey), "ib_post_send");
  });
}

void rdma_address(Session& session, const Parsed& parsed) {
  rdma(session, parsed, parsed.remote, parsed.key);
}

void rdma_qp(Session& session, const Parsed& parsed) {
  const ib_mr* mr = session.qp(parsed.peer).endpoint->mr();
  rdma(session, parsed, mr->iova, mr->rkey);
}

void post_recv(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  require_ready(qp);
  require_count(parsed.count);
  if (parsed.count > kRecvSlots - qp.recv_posted) {
    throw std::runtime_error(name_of(qp) + " has room for " +
                             std::to_string(kRecvSlots - qp.recv_posted) + " more receives");
  }
  for (uint32_t i = 0; i < parsed.count; ++i) {
    const uint32_t slot = qp.recv_next;
    qp.endpoint->post_recv(qp.recv_offset(slot), qp.recv_slot_bytes(), slot | kRecvMark);
    qp.recv_next = (slot + 1) % kRecvSlots;
    ++qp.recv_posted;
  }
  std::printf("qp %u: %u receives posted\n", qp.id, qp.recv_posted);
}

void expect_recv(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  const auto fresh = [&qp] { return qp.received - qp.received_expected; };
  session.run_until([&] { return fresh() >= parsed.count; }, kExpectLimit);
  session.run_until([&] { return fresh() > parsed.count; }, kExpectSettle);
  const uint64_t came = fresh();
  qp.received_expected = qp.received;
  if (came != parsed.count) {
    throw std::runtime_error(name_of(qp) + ": " + std::to_string(parsed.count) +
                             " messages expected, " + std::to_string(came) + " came");
  }
  if (qp.received_wrong != 0) {
    throw std::runtime_error(name_of(qp) + ": " + std::to_string(qp.received_wrong) +
                             " messages came without their pattern");
  }
  std::printf("qp %u: %u messages came, each as it was sent\n", qp.id, parsed.count);
}

void wait(Session& session, const Parsed& parsed) {
  session.run_until([] { return false; }, std::chrono::milliseconds(parsed.count));
}

StringToken send = UROCE_WORD(verb, "send");
StringToken write_read = UROCE_WORD(verb, "write#read");
StringToken post = UROCE_WORD(verb, "post");
StringToken expect = UROCE_WORD(verb, "expect");
StringToken wait_word = UROCE_WORD(verb, "wait");
StringToken recv_word = UROCE_WORD(noun, "recv");
StringToken to_word = UROCE_WORD(word, "to");
StringToken group_word = UROCE_WORD(word, "group");
StringToken qp_word = UROCE_WORD(word, "qp");
StringToken address = UROCE_WORD(address, nullptr);
NumberToken id = UROCE_NUMBER(id);
NumberToken peer = UROCE_NUMBER(peer);
NumberToken length = UROCE_NUMBER(length);
NumberToken count = UROCE_NUMBER(count);
NumberToken qpn = UROCE_NUMBER(qpn);
NumberToken key = UROCE_NUMBER(key);
NumberToken remote = UROCE_NUMBER64(remote);

cmdline_parse_inst_t post_command = {
    .f = run<post_recv>,
    .data = nullptr,
    .help_str = "post recv ID COUNT: posts receives, at most 64 at once",
    .tokens = {&post.hdr, &recv_word.hdr, &id.hdr, &count.hdr, nullptr},
};
cmdline_parse_inst_t send_command = {
    .f = run<send_rc>,
    .data = nullptr,
    .help_str = "send ID LENGTH COUNT: RC messages to the connected peer",
    .tokens = {&send.hdr, &id.hdr, &length.hdr, &count.hdr, nullptr},
};
cmdline_parse_inst_t send_to_command = {
    .f = run<send_to>,
    .data = nullptr,
    .help_str = "send ID LENGTH COUNT to IP QPN QKEY: UD messages",
    .tokens = {&send.hdr, &id.hdr, &length.hdr, &count.hdr, &to_word.hdr, &address.hdr, &qpn.hdr,
               &key.hdr, nullptr},
};
cmdline_parse_inst_t send_qp_command = {
    .f = run<send_qp>,
    .data = nullptr,
    .help_str = "send ID LENGTH COUNT qp ID QKEY: UD messages to a queue pair of this process",
    .tokens = {&send.hdr, &id.hdr, &length.hdr, &count.hdr, &qp_word.hdr, &peer.hdr, &key.hdr,
               nullptr},
};
cmdline_parse_inst_t send_group_command = {
    .f = run<send_group>,
    .data = nullptr,
    .help_str = "send ID LENGTH COUNT group ADDRESS QKEY: UD messages to a group",
    .tokens = {&send.hdr, &id.hdr, &length.hdr, &count.hdr, &group_word.hdr, &address.hdr, &key.hdr,
               nullptr},
};
cmdline_parse_inst_t rdma_command = {
    .f = run<rdma_address>,
    .data = nullptr,
    .help_str = "write|read ID LENGTH COUNT ADDRESS RKEY: the peer's memory (show mr there)",
    .tokens = {&write_read.hdr, &id.hdr, &length.hdr, &count.hdr, &remote.hdr, &key.hdr, nullptr},
};
cmdline_parse_inst_t rdma_qp_command = {
    .f = run<rdma_qp>,
    .data = nullptr,
    .help_str = "write|read ID LENGTH COUNT qp ID: the memory of a queue pair of this process",
    .tokens = {&write_read.hdr, &id.hdr, &length.hdr, &count.hdr, &qp_word.hdr, &peer.hdr, nullptr},
};
cmdline_parse_inst_t expect_command = {
    .f = run<expect_recv>,
    .data = nullptr,
    .help_str = "expect recv ID COUNT: so many messages since the last expect, each as it was sent",
    .tokens = {&expect.hdr, &recv_word.hdr, &id.hdr, &count.hdr, nullptr},
};
cmdline_parse_inst_t wait_command = {
    .f = run<wait>,
    .data = nullptr,
    .help_str = "wait MS: polls for so many milliseconds",
    .tokens = {&wait_word.hdr, &count.hdr, nullptr},
};
cmdline_parse_inst_t* const kCommands[] = {&post_command,    &send_command,       &send_to_command,
                                           &send_qp_command, &send_group_command, &rdma_command,
                                           &rdma_qp_command, &expect_command,     &wait_command};

}  // namespace

std::span<cmdline_parse_inst_t* const> traffic_commands() { return kCommands; }

}  // namespace uroce::testroce
