// SPDX-License-Identifier: BSD-3-Clause
// ISA-L's CRC-32, and what has to be put right after it.
#include "wire/crc32.h"

#include <isa-l/crc.h>

namespace uroce::wire {
namespace {

// From this length on, ISA-L may use wide registers.
constexpr size_t kWideBytes = 256;

const bool kHasAvx = __builtin_cpu_supports("avx") != 0;

}  // namespace

uint32_t crc32_long(uint32_t crc, const uint8_t* from, size_t n) {
  // ISA-L takes its buffers without const, and reads only.
  const uint32_t result = crc32_gzip_refl(crc, const_cast<uint8_t*>(from), n);
  // Its AVX-512 form returns with the upper halves of its registers in use. Every SSE instruction
  // after that, ours and anybody's, then waits for the last writer of its register: the headers of
  // a packet take twice as long. Compilers end such functions with this instruction.
  if (n >= kWideBytes && kHasAvx) asm volatile("vzeroupper");
  return result;
}

}  // namespace uroce::wire
