// SPDX-License-Identifier: BSD-3-Clause
// Edit distance by dynamic programming, three rows at a time: the newest, the one before it, and
// the one before that for swapped neighbours.
#include "config/nearest.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <vector>

#include "base/quotable.h"

namespace uroce::config {
namespace {

size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::vector<size_t> next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    // Each letter more is an edit: a word without end is unlike all, and nobody has to compare it.
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
    if (longer - shorter >= least) continue;
    // A word of which nothing is left is no likeness.
    const size_t distance = edits(word, candidate);
    if (distance < least && distance < word.size()) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> known) {
  std::string sentence = absl::StrFormat("unknown %s '%s'", what, quotable(word));
  const std::string_view near = nearest(word, known);
  sentence += near.empty() ? ": known are " : absl::StrFormat(", nearest is %s; known are ", near);
  for (size_t i = 0; i < known.size(); ++i) {
    if (i > 0) sentence += ", ";
    sentence += known[i];
  }
  return sentence;
}

}  // namespace uroce::config
