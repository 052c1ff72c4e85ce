// SPDX-License-Identifier: BSD-3-Clause
// Commands about queue pairs: create, connect, activate, destroy, and the memory that peers may
// use.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "testroce/commands.h"

namespace uroce::testroce {
namespace {

ib_mtu active_mtu(ib_device* device) {
  ib_port_attr port{};
  app::check(ib_query_port(device, 1, &port), "ib_query_port");
  return port.active_mtu;
}

void connect_to(QueuePair& qp, const ib_gid& peer, uint32_t qpn, ib_mtu mtu, uint32_t psn) {
  if (qp.type != IB_QPT_RC) {
    throw std::runtime_error("qp " + std::to_string(qp.id) +
                             " is UD: activate qp ID QKEY makes it ready");
  }
  ib_device* device = qp.endpoint->device();
  qp.endpoint->connect(peer, qpn, mtu, psn, app::source_gid(device, peer).index);
  qp.ready = true;
  std::printf("qp %u: connected to QPN 0x%06x\n", qp.id, qpn);
}

void create_qp(Session& session, const Parsed& parsed) {
  const ib_qp_type type = std::strcmp(parsed.word, "rc") == 0 ? IB_QPT_RC : IB_QPT_UD;
  const QueuePair& qp = session.create_qp(parsed.id, type);
  std::printf("qp %u: %s on port %u, QPN 0x%06x\n", qp.id, parsed.word, parsed.id,
              qp.endpoint->qp()->qp_num);
}

void destroy_qp(Session& session, const Parsed& parsed) {
  session.destroy_qp(parsed.id);
  std::printf("qp %u: destroyed\n", parsed.id);
}

void connect_qp(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  connect_to(qp, parse_address(parsed.address), parsed.qpn, active_mtu(qp.endpoint->device()),
             parsed.psn);
}

void connect_pair(Session& session, const Parsed& parsed) {
  QueuePair& a = session.qp(parsed.id);
  QueuePair& b = session.qp(parsed.peer);
  ib_device* device_a = a.endpoint->device();
  ib_device* device_b = b.endpoint->device();
  // One path MTU for both directions: what the smaller port takes.
  const ib_mtu mtu = std::min(active_mtu(device_a), active_mtu(device_b));
  connect_to(a, own_address(device_b), b.endpoint->qp()->qp_num, mtu, parsed.psn);
  connect_to(b, own_address(device_a), a.endpoint->qp()->qp_num, mtu, parsed.psn);
}

void activate_qp(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  if (qp.type != IB_QPT_UD) {
    throw std::runtime_error("qp " + std::to_string(qp.id) +
                             " is RC: connect qp ID REMOTE_IP REMOTE_QPN PSN makes it ready");
  }
  qp.endpoint->activate(parsed.key);
  qp.ready = true;
  std::printf("qp %u: active, Q_Key 0x%08x\n", qp.id, parsed.key);
}

void show_mr(Session& session, const Parsed& parsed) {
  const QueuePair& qp = session.qp(parsed.id);
  std::printf("qp %u: address 0x%" PRIx64 " rkey 0x%08x, %u bytes that peers may write and read\n",
              qp.id, static_cast<uint64_t>(qp.endpoint->mr()->iova), qp.endpoint->mr()->rkey,
              kTargetBytes);
}

StringToken create = UROCE_WORD(verb, "create");
StringToken destroy = UROCE_WORD(verb, "destroy");
StringToken connect = UROCE_WORD(verb, "connect");
StringToken activate = UROCE_WORD(verb, "activate");
StringToken show = UROCE_WORD(verb, "show");
StringToken qp_word = UROCE_WORD(noun, "qp");
StringToken pair_word = UROCE_WORD(noun, "pair");
StringToken mr_word = UROCE_WORD(noun, "mr");
NumberToken id = UROCE_NUMBER(id);
NumberToken peer = UROCE_NUMBER(peer);
NumberToken qpn = UROCE_NUMBER(qpn);
NumberToken psn = UROCE_NUMBER(psn);
NumberToken qkey = UROCE_NUMBER(key);
StringToken type = UROCE_WORD(word, "ud#rc");
StringToken address = UROCE_WORD(address, nullptr);

cmdline_parse_inst_t create_command = {
    .f = run<create_qp>,
    .data = nullptr,
    .help_str = "create qp PORT ud|rc: makes a queue pair; prints its ID here and its QPN",
    .tokens = {&create.hdr, &qp_word.hdr, &id.hdr, &type.hdr, nullptr},
};
cmdline_parse_inst_t destroy_command = {
    .f = run<destroy_qp>,
    .data = nullptr,
    .help_str = "destroy qp ID",
    .tokens = {&destroy.hdr, &qp_word.hdr, &id.hdr, nullptr},
};
cmdline_parse_inst_t connect_command = {
    .f = run<connect_qp>,
    .data = nullptr,
    .help_str = "connect qp ID REMOTE_IP REMOTE_QPN PSN: RC to ready; PSN both ways",
    .tokens = {&connect.hdr, &qp_word.hdr, &id.hdr, &address.hdr, &qpn.hdr, &psn.hdr, nullptr},
};
cmdline_parse_inst_t pair_command = {
    .f = run<connect_pair>,
    .data = nullptr,
    .help_str = "connect pair ID ID PSN: two RC queue pairs of this process with each other",
    .tokens = {&connect.hdr, &pair_word.hdr, &id.hdr, &peer.hdr, &psn.hdr, nullptr},
};
cmdline_parse_inst_t activate_command = {
    .f = run<activate_qp>,
    .data = nullptr,
    .help_str = "activate qp ID QKEY: UD to ready",
    .tokens = {&activate.hdr, &qp_word.hdr, &id.hdr, &qkey.hdr, nullptr},
};
cmdline_parse_inst_t show_mr_command = {
    .f = run<show_mr>,
    .data = nullptr,
    .help_str = "show mr ID: the memory that peers of a queue pair may write and read",
    .tokens = {&show.hdr, &mr_word.hdr, &id.hdr, nullptr},
};
cmdline_parse_inst_t* const kCommands[] = {&create_command, &destroy_command,  &connect_command,
                                           &pair_command,   &activate_command, &show_mr_command};

}  // namespace

std::span<cmdline_parse_inst_t* const> qp_commands() { return kCommands; }

}  // namespace uroce::testroce
