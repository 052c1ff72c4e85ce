// SPDX-License-Identifier: BSD-3-Clause
// Where a broken invariant ends: one line on stderr, then abort.
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace uroce {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "uroce: broken invariant: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace uroce
