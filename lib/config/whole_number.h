// SPDX-License-Identifier: BSD-3-Clause
// Reading a number that is all of a text.
#ifndef UROCE_CONFIG_WHOLE_NUMBER_H
#define UROCE_CONFIG_WHOLE_NUMBER_H

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace uroce::config {

// Decimal, without blanks; nullopt also for what T cannot hold.
template <typename T>
std::optional<T> whole_number(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace uroce::config

#endif  // UROCE_CONFIG_WHOLE_NUMBER_H
