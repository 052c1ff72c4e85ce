// SPDX-License-Identifier: BSD-3-Clause
// The command line of uroce-testroce: two options of its own, everything else is uroce's.
#ifndef UROCE_APP_TESTROCE_OPTIONS_H
#define UROCE_APP_TESTROCE_OPTIONS_H

#include <string>
#include <vector>

namespace uroce::testroce {

struct Options {
  bool help = false;
  std::string cmdline_file;           // "": none
  unsigned stats_period_seconds = 0;  // 0: none
  std::vector<const char*> rest;      // for uroce_start; points into argv
};

// Takes --help before "--", and --cmdline-file and --stats-period behind it, out of the arguments.
// Throws std::runtime_error with one sentence.
Options parse_options(int argc, const char* const* argv);

}  // namespace uroce::testroce

#endif  // UROCE_APP_TESTROCE_OPTIONS_H
