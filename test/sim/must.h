// SPDX-License-Identifier: BSD-3-Clause
// For calls that cannot fail in a run that is set up right: an exception ends the run with a word.
#ifndef UROCE_TEST_SIM_MUST_H
#define UROCE_TEST_SIM_MUST_H

#include <uroce/ib_types.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace uroce::sim {

inline void must(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(-result));
}

template <typename T>
T* must(T* pointer, const char* what) {
  if (IS_ERR(pointer)) must(static_cast<int>(PTR_ERR(pointer)), what);
  return pointer;
}

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_MUST_H
