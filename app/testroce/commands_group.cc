// SPDX-License-Identifier: BSD-3-Clause
// Commands about groups: attach and detach.
#include <cstdio>
#include <cstring>
#include <vector>

#include "testroce/commands.h"

namespace uroce::testroce {
namespace {

bool is_same(const ib_gid& one, const ib_gid& other) {
  return std::memcmp(one.raw, other.raw, sizeof one.raw) == 0;
}

Group parse_group(const char* text) {
  Group group{.text = text};
  check_group(uroce_parse_mcast(text, &group.gid, &group.source));
  return group;
}

void attach(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  check_group(uroce_join_mcast(qp.endpoint->qp(), parsed.address));
  qp.groups.push_back(parse_group(parsed.address));
  std::printf("qp %u: in group %s\n", qp.id, parsed.address);
}

// Without a source it is out of the group with all of them.
void detach(Session& session, const Parsed& parsed) {
  QueuePair& qp = session.qp(parsed.id);
  check_group(uroce_leave_mcast(qp.endpoint->qp(), parsed.address));
  const Group left = parse_group(parsed.address);
  std::erase_if(qp.groups, [&left](const Group& joined) {
    return is_same(joined.gid, left.gid) &&
           (is_same(left.source, ib_gid{}) || is_same(left.source, joined.source));
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
    .help_str = "attach ID GROUP: makes a UD queue pair a member of GROUP, or of SOURCE@GROUP",
    .tokens = {&attach_word.hdr, &id.hdr, &group_address.hdr, nullptr},
};
cmdline_parse_inst_t detach_command = {
    .f = run<detach>,
    .data = nullptr,
    .help_str = "detach ID GROUP: ends the membership, or SOURCE@GROUP of it",
    .tokens = {&detach_word.hdr, &id.hdr, &group_address.hdr, nullptr},
};
cmdline_parse_inst_t* const kCommands[] = {&attach_command, &detach_command};

}  // namespace

std::span<cmdline_parse_inst_t* const> group_commands() { return kCommands; }

}  // namespace uroce::testroce
