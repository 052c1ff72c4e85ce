// SPDX-License-Identifier: BSD-3-Clause
// The known word that somebody may have meant who wrote an unknown one.
#ifndef UROCE_CONFIG_NEAREST_H
#define UROCE_CONFIG_NEAREST_H

#include <span>
#include <string>
#include <string_view>

namespace uroce::config {

// The known word with the fewest edits from `word` (letters added, left out, changed, or two
// neighbours swapped), the first of several; empty when none is near: more than a third of the
// letters would change, or more than two of a short word's.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// "unknown WHAT 'WORD', nearest is NEAREST; known are A, B, C": one clause less when none is near.
std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> known);

}  // namespace uroce::config

#endif  // UROCE_CONFIG_NEAREST_H
