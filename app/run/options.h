// SPDX-License-Identifier: BSD-3-Clause
// The command line of uroce-run.
#ifndef UROCE_APP_RUN_OPTIONS_H
#define UROCE_APP_RUN_OPTIONS_H

#include <string>

namespace run {

struct Options {
  std::string library_words;  // options that are the library's: "--port net_null0 --limit a=1"
  std::string profile;
  bool redirect = true;
  bool help = false;
  char** program = nullptr;  // argv from the program's name on
};

// Takes options up to the program's name. Those that are not ours are the library's, which all
// have a value; it judges them itself. Returns "" or what is wrong.
std::string parse_options(int argc, char** argv, Options& options);

extern const char* const kHelp;

}  // namespace run

#endif  // UROCE_APP_RUN_OPTIONS_H
