// SPDX-License-Identifier: BSD-3-Clause
// Text of a user's inside a sentence of ours: in one line, of bounded length, harmless to a
// terminal. Control path only.
#ifndef UROCE_BASE_QUOTABLE_H
#define UROCE_BASE_QUOTABLE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace uroce {

// How much of a word, and of a path or of another's sentence, is repeated.
inline constexpr size_t kQuotedMax = 64;
inline constexpr size_t kQuotedPathMax = 256;

// The first `most` characters of a text, and "…" if there are more. Control characters, and bytes
// that are not UTF-8, are written out: \n, \t, \x1b. What is quotable stays as it is.
std::string quotable(std::string_view text, size_t most = kQuotedMax);

}  // namespace uroce

#endif  // UROCE_BASE_QUOTABLE_H
