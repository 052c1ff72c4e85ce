// SPDX-License-Identifier: BSD-3-Clause
// Commands about groups: attach and detach.
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "testroce/commands.h"

namespace uroce::testroce {
namespace {

ib_gid parse_group(const char* text) {
  const ib_gid gid = parse_address(text);
  if (!rdma_is_multicast_gid(&gid)) {
    throw std::runtime_error(std::string(text) +
                             " is no group: 224.0.0.0 … 239.255.255.255 or ff00::/8");
  }
  return gid;
}

void attach(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  ib_gid group = parse_group(parsed.address);
  app::check(ib_attach_mcast(qp.endpoint->qp(), &group, 0), "ib_attach_mcast");
  qp.groups.emplace(parsed.address, group);
  std::printf("qp %u: in group %s\n", qp.id, parsed.address);
}

void detach(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  ib_gid group = parse_group(parsed.address);
  app::check(ib_detach_mcast(qp.endpoint->qp(), &group, 0), "ib_detach_mcast");
  std::erase_if(qp.groups, [&](const auto& entry) {
    return std::equal(entry.second.raw, entry.second.raw + 16, group.raw);
  });
  std::printf("qp %u: out of group %s\n", qp.id, parsed.address);
}

StringToken attach_word = UROCE_WORD(verb, "attach");
StringToken detach_word = UROCE_WORD(verb, "detach");
NumberToken id = UROCE_NUMBER(id);
StringToken group_address = UROCE_WORD(address, nullptr);

cmdline_parse_inst_t attach_command = {
    .f = run<attach>,
    .data = nullptr,
    .help_str = "attach ID GROUP: makes a UD queue pair a member of a group",
    .tokens = {&attach_word.hdr, &id.hdr, &group_address.hdr, nullptr},
};
cmdline_parse_inst_t detach_command = {
    .f = run<detach>,
    .data = nullptr,
    .help_str = "detach ID GROUP: ends the membership",
    .tokens = {&detach_word.hdr, &id.hdr, &group_address.hdr, nullptr},
};
cmdline_parse_inst_t* const kCommands[] = {&attach_command, &detach_command};

}  // namespace

std::span<cmdline_parse_inst_t* const> group_commands() { return kCommands; }

}  // namespace uroce::testroce
