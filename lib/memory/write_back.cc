// SPDX-License-Identifier: BSD-3-Clause
// Writing cache lines back to memory.
//
// CLWB leaves the line in the cache and lets many be under way at once; a CPU that lacks it has
// CLFLUSH, which every x86-64 has, slower and one after the other. A store fence ends both.
#include "memory/write_back.h"

#include <cpuid.h>
#include <immintrin.h>

#include "base/spsc_ring.h"

namespace uroce::memory {
namespace {

bool cpu_has_clwb() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLWB) != 0;
}
const bool kHasClwb = cpu_has_clwb();

// The loop is there twice because the instruction set belongs to a function.
[[gnu::target("clwb")]] void write_back_lines(uint8_t* first, const uint8_t* end) {
  for (; first < end; first += kCacheLine) _mm_clwb(first);
}

void flush_lines(const uint8_t* first, const uint8_t* end) {
  for (; first < end; first += kCacheLine) _mm_clflush(first);
}

}  // namespace

void write_back(std::span<const uint8_t> range) {
  if (range.empty()) return;
  const auto address = reinterpret_cast<uintptr_t>(range.data());
  auto* first = reinterpret_cast<uint8_t*>(address & ~uintptr_t{kCacheLine - 1});
  const uint8_t* end = range.data() + range.size();
  if (kHasClwb) {
    write_back_lines(first, end);
  } else {
    flush_lines(first, end);
  }
  _mm_sfence();
}

}  // namespace uroce::memory
