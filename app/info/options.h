// SPDX-License-Identifier: BSD-3-Clause
// The command line of uroce-info.
#ifndef UROCE_APP_INFO_OPTIONS_H
#define UROCE_APP_INFO_OPTIONS_H

#include <string>
#include <vector>

namespace info {

enum class Show { kAll, kBad, kSummary };

struct Options {
  enum class Command { kNone, kDecode };
  Command command = Command::kNone;
  std::vector<std::string> files;  // decode
  Show show = Show::kAll;          // decode
  bool absolute_time = false;      // decode
};

// Fills `options` from the command line. Returns -1 to go on, otherwise the exit status: help was
// printed, or what is wrong was said on stderr.
int parse_options(int argc, char** argv, Options& options);

}  // namespace info

#endif  // UROCE_APP_INFO_OPTIONS_H
