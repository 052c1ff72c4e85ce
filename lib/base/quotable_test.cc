// SPDX-License-Identifier: BSD-3-Clause
// Tests of text that is repeated in sentences.
#include "base/quotable.h"

#include <gtest/gtest.h>

namespace uroce {
namespace {

TEST(Quotable, LeavesTextAlone) {
  for (const char* text : {"", "239.1.1.1", "größer – 価格 😀", "a\\nb", "…"}) {
    EXPECT_EQ(quotable(text), text);
  }
}

TEST(Quotable, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(quotable("a\nb\tc\r\x1b[31m\x7f"), "a\\nb\\tc\\x0d\\x1b[31m\\x7f");
  EXPECT_EQ(quotable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(quotable("\xc2\x9b"
                     "31m"),
            "\\xc2\\x9b31m")
      << "CSI in one character";
  EXPECT_EQ(quotable("\xc2\xa0"), "\xc2\xa0") << "the first that is none";
}

TEST(Quotable, WritesOutWhatIsNoUtf8) {
  const struct {
    const char* text;
    const char* shown;
  } table[] = {
      {"\xff\xfe", "\\xff\\xfe"},
      {"\x80z", "\\x80z"},                           // nothing to continue
      {"\xc3", "\\xc3"},                             // cut short
      {"\xc3z", "\\xc3z"},                           // broken off
      {"\xe2\x80", "\\xe2\\x80"},                    // cut short
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},           // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above U+10FFFF
      {"\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf"},  // overlong
  };
  for (const auto& row : table) EXPECT_EQ(quotable(row.text), row.shown);
}

TEST(Quotable, IsBounded) {
  EXPECT_EQ(quotable(std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_EQ(quotable(std::string(65, 'a')), std::string(64, 'a') + "…");
  EXPECT_EQ(quotable("ü😀x", 2), "ü😀…") << "characters, and whole ones";
  EXPECT_EQ(quotable(std::string(3'000'000, '\x1b')).size(), 64 * 4 + std::string("…").size());
  EXPECT_EQ(quotable(std::string(9'999, 'a'), std::string::npos).size(), 9'999u);
}

}  // namespace
}  // namespace uroce
