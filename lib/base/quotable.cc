// SPDX-License-Identifier: BSD-3-Clause
// One character of UTF-8 (RFC 3629) after the other.
#include "base/quotable.h"

#include <cstdint>

namespace uroce {
namespace {

uint8_t byte(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

// The bytes of the character that a text begins with; 0: it is no UTF-8. An overlong form, a
// surrogate and what is above U+10FFFF are told by the second byte.
size_t character_bytes(std::string_view text) {
  const uint8_t first = byte(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(text, i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t second = byte(text, 1);
  const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return bad ? 0 : bytes;
}

// C0, DEL and C1: a terminal may take U+009B for ESC and a bracket.
bool is_control(std::string_view character) {
  const uint8_t first = byte(character, 0);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && byte(character, 1) < 0xA0);
}

void write_out(char c, std::string& to) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (c == '\n') {
    to += "\\n";
  } else if (c == '\t') {
    to += "\\t";
  } else {
    to += "\\x";
    to += kDigits[static_cast<uint8_t>(c) >> 4];
    to += kDigits[static_cast<uint8_t>(c) & 15];
  }
}

}  // namespace

std::string quotable(std::string_view text, size_t most) {
  std::string result;
  for (size_t count = 0; !text.empty(); ++count) {
    if (count == most) return result + "…";
    const size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, bytes == 0 ? 1 : bytes);
    if (bytes == 0 || is_control(character)) {
      for (const char c : character) write_out(c, result);
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace uroce
