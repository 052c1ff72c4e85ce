// SPDX-License-Identifier: BSD-3-Clause
// Any text as command line and as TOML profile: settings that are valid, or one sentence.
//
// The first byte of the input says which: even, the rest is a profile; odd, it is arguments, one a
// line. --profile is left out of them: the fuzzer must not read files that happen to be there.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "config/command_line.h"
#include "config/profile.h"

namespace {

using uroce::config::Settings;

void check_refusal(const absl::Status& status) {
  UROCE_ASSERT(!status.message().empty());
  UROCE_ASSERT(status.message().find('\n') == std::string_view::npos);
}

void read_profile(std::string_view text) {
  Settings settings;
  const absl::Status status = uroce::config::apply_profile_text(text, "fuzz.toml", settings);
  if (!status.ok()) {
    check_refusal(status);
    return;
  }
  const absl::Status valid = uroce::config::validate(settings);
  if (!valid.ok()) check_refusal(valid);
}

void read_arguments(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty() && words.size() < 64) {
    const size_t end = text.find('\n');
    std::string word(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    word.resize(std::min(word.size(), word.find('\0')));  // as execve would hand it over
    if (word.find("--profile") == std::string::npos) words.push_back(std::move(word));
  }
  std::vector<const char*> arguments;
  arguments.reserve(words.size());
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const auto settings = uroce::config::parse_command_line(arguments);
  if (!settings.ok()) {
    check_refusal(settings.status());
    return;
  }
  UROCE_ASSERT(uroce::config::validate(*settings).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    read_profile(text);
  } else {
    read_arguments(text);
  }
  return 0;
}
