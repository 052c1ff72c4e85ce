// SPDX-License-Identifier: BSD-3-Clause
// Writing out control characters.
#include "config/one_line.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <string>

namespace uroce::config {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

absl::Status in_one_line(const absl::Status& status) {
  const std::string message(status.message());
  if (std::none_of(message.begin(), message.end(), is_control)) return status;
  std::string text;
  for (const char c : message) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (is_control(c)) {
      text += absl::StrFormat("\\x%02x", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return {status.code(), text};
}

}  // namespace uroce::config
