// SPDX-License-Identifier: BSD-3-Clause
// The commands of testroce as tables for librte_cmdline, and what ties them to the session.
//
// All commands parse into one structure, so that a token is a name for one of its fields. A command
// is a plain function that throws std::runtime_error with one sentence when it fails; nothing is
// thrown through librte_cmdline.
#ifndef UROCE_APP_TESTROCE_COMMANDS_H
#define UROCE_APP_TESTROCE_COMMANDS_H

#include <cmdline.h>
#include <cmdline_parse.h>
#include <cmdline_parse_num.h>
#include <cmdline_parse_string.h>

#include <cstddef>
#include <span>

#include "testroce/session.h"

namespace uroce::testroce {

struct Parsed {
  cmdline_fixed_string_t verb;
  cmdline_fixed_string_t noun;
  cmdline_fixed_string_t word;
  cmdline_fixed_string_t address;
  uint32_t id;
  uint32_t peer;
  uint32_t length;
  uint32_t count;
  uint32_t qpn;
  uint32_t key;  // Q_Key, R_Key
  uint32_t psn;
  uint64_t remote;
};

using Command = void (*)(Session& session, const Parsed& parsed);

// Runs a command on the session of this process and keeps what it throws; console.cc.
void execute(Command command, const Parsed& parsed);
template <Command kCommand>
void run(void* parsed, cmdline*, void*) {
  execute(kCommand, *static_cast<const Parsed*>(parsed));
}

// What the parser wants is mutable and static.
using StringToken = cmdline_parse_token_string_t;
using NumberToken = cmdline_parse_token_num_t;
#define UROCE_WORD(field, text) TOKEN_STRING_INITIALIZER(::uroce::testroce::Parsed, field, text)
#define UROCE_NUMBER(field) TOKEN_NUM_INITIALIZER(::uroce::testroce::Parsed, field, RTE_UINT32)
#define UROCE_NUMBER64(field) TOKEN_NUM_INITIALIZER(::uroce::testroce::Parsed, field, RTE_UINT64)

std::span<cmdline_parse_inst_t* const> show_commands();
std::span<cmdline_parse_inst_t* const> qp_commands();
std::span<cmdline_parse_inst_t* const> traffic_commands();
std::span<cmdline_parse_inst_t* const> group_commands();

}  // namespace uroce::testroce

#endif  // UROCE_APP_TESTROCE_COMMANDS_H
