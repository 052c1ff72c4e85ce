// SPDX-License-Identifier: BSD-3-Clause
// Taking the program's own options out of the command line.
#include "testroce/options.h"

#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace uroce::testroce {
namespace {

// The value of option `name` at argv[i]: behind '=' or the next argument. False: another option.
bool take_value(const char* name, int argc, const char* const* argv, int& i, std::string& value) {
  const std::string_view argument = argv[i];
  const size_t length = std::strlen(name);
  if (!argument.starts_with(name)) return false;
  if (argument.size() > length && argument[length] == '=') {
    value = argument.substr(length + 1);
  } else if (argument.size() != length) {
    return false;
  } else if (++i < argc) {
    value = argv[i];
  } else {
    throw std::runtime_error(std::string(name) + ": a value must follow");
  }
  if (value.empty()) throw std::runtime_error(std::string(name) + ": a value must follow");
  return true;
}

unsigned parse_seconds(const std::string& text) {
  unsigned seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || stop != end || seconds == 0 || seconds > 86400) {
    throw std::runtime_error("--stats-period: \"" + text +
                             "\" is no number of seconds (1 … 86400)");
  }
  return seconds;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Options options;
  bool own = false;
  std::string value;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!own && i > 0 && (argument == "--help" || argument == "-h")) options.help = true;
    if (own && argument == "--help") options.help = true;
    if (own && take_value("--cmdline-file", argc, argv, i, value)) {
      options.cmdline_file = value;
    } else if (own && take_value("--stats-period", argc, argv, i, value)) {
      options.stats_period_seconds = parse_seconds(value);
    } else {
      options.rest.push_back(argv[i]);
    }
    own = own || argument == "--";
  }
  return options;
}

}  // namespace uroce::testroce
