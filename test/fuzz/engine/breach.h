// SPDX-License-Identifier: BSD-3-Clause
// How a fuzz target says that a rule was broken: one sentence, then the end of the process.
#ifndef UROCE_TEST_FUZZ_ENGINE_BREACH_H
#define UROCE_TEST_FUZZ_ENGINE_BREACH_H

#include <cstdio>
#include <cstdlib>

namespace uroce::fuzz {

template <typename... Arguments>
[[noreturn, gnu::noinline]] void breach(const char* format, Arguments... arguments) {
  std::fputs("engine_fuzz: ", stderr);
  std::fprintf(stderr, format, arguments...);
  std::fputs("\n", stderr);
  std::abort();
}
[[noreturn]] inline void breach(const char* sentence) { breach("%s", sentence); }

}  // namespace uroce::fuzz

#endif  // UROCE_TEST_FUZZ_ENGINE_BREACH_H
