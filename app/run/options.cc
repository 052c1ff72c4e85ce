// SPDX-License-Identifier: BSD-3-Clause
// Telling three kinds of words apart: ours, the library's, the program's.
#include "options.h"

#include <string_view>

namespace run {
namespace {

// Takes the option at argv[i], and its value, which follows behind '=' or as the next word.
std::string take(int argc, char** argv, int& i, Options& options) {
  const std::string word = argv[i];
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (equals == std::string::npos && i + 1 == argc) return name + " needs a value";
  const std::string value = equals == std::string::npos ? argv[++i] : word.substr(equals + 1);
  if (value.empty()) return name + " needs a value";
  if (name == "--profile") {
    options.profile = value;
    return "";
  }
  if (value.find_first_of(" \t\n") != std::string::npos) {
    return name + " '" + value + "': a value has no blanks; a profile can have them";
  }
  options.library_words += (options.library_words.empty() ? "" : " ") + name + " " + value;
  return "";
}

}  // namespace

const char* const kHelp =
    R"(Usage: uroce-run [OPTIONS] PROGRAM [ARGUMENTS]...

Runs a program of libibverbs over uroce, in its own process. The program needs no change: what it
finds as RDMA devices are the ports named here.

  --port NAME[,KEY=VALUE]...  a port, such as net_af_packet,iface=eth1 or
                              net_memif,socket=/run/a.sock,address=10.0.0.1/24; repeat for more
  --profile FILE              a TOML file of settings; options come on top of it
  --OPTION VALUE              any other option of uroce: --rings, --limit, --fault, --log-level,
                              --spin-us, --sleep-us (doc/configuration.md)
  --no-redirect               leave /dev/infiniband and /sys/class/infiniband to the kernel
  --                          the next word is the program
  --help                      this text

UROCE_CONFIG and UROCE_OPTIONS of the environment count, too: the profile if none is given here, and
options in front of those given here.
The exit status is the program's; 125: what is given here is wrong, 126: the program cannot be run
over uroce, 127: there is no such program.

  uroce-run --port net_af_packet,iface=eth1 ibv_rc_pingpong -g 1
)";

std::string parse_options(int argc, char** argv, Options& options) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; ++i) {
    const std::string_view word = argv[i];
    options.help = word == "--help" || word == "-h";
    if (options.help) return "";
    if (word == "--") {
      ++i;
      break;
    }
    if (word == "--no-redirect") {
      options.redirect = false;
      continue;
    }
    if (std::string wrong = take(argc, argv, i, options); !wrong.empty()) return wrong;
  }
  if (i >= argc) return "name the program to run behind the options (uroce-run --help)";
  options.program = argv + i;
  return "";
}

}  // namespace run
