// SPDX-License-Identifier: BSD-3-Clause
// Two levels of assertion. UROCE_ASSERT is cheap and stays on in release: a broken invariant stops
// the process before it can harm a peer. UROCE_DEBUG_ASSERT is for checks too dear for the packet
// path and is on only where UROCE_DEBUG is defined (sanitizer builds, the simulator).
#ifndef UROCE_BASE_ASSERT_H
#define UROCE_BASE_ASSERT_H

namespace uroce {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}  // namespace uroce

#define UROCE_ASSERT(expression)       \
  (__builtin_expect(!!(expression), 1) \
       ? static_cast<void>(0)          \
       : ::uroce::assertion_failed(#expression, __FILE__, __LINE__))

#ifdef UROCE_DEBUG
#define UROCE_DEBUG_ASSERT(expression) UROCE_ASSERT(expression)
#else
#define UROCE_DEBUG_ASSERT(expression) static_cast<void>(sizeof(!(expression)))
#endif

#endif  // UROCE_BASE_ASSERT_H
