// SPDX-License-Identifier: BSD-3-Clause
// Our part of the command line (what follows EAL's `--`) into settings.
#ifndef UROCE_CONFIG_COMMAND_LINE_H
#define UROCE_CONFIG_COMMAND_LINE_H

#include <absl/status/statusor.h>

#include <span>
#include <string>

#include "config/settings.h"

namespace uroce::config {

// The options, as text for a program's --help.
std::string options_help();

// Parses and validates. A profile (--profile FILE) is read first; options come on top. Errors are
// one sentence that names the option and the cure.
absl::StatusOr<Settings> parse_command_line(std::span<const char* const> arguments);

}  // namespace uroce::config

#endif  // UROCE_CONFIG_COMMAND_LINE_H
