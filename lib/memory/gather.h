// SPDX-License-Identifier: BSD-3-Clause
// Bytes from a work request's gather list into a packet.
#ifndef UROCE_MEMORY_GATHER_H
#define UROCE_MEMORY_GATHER_H

#include <span>

#include "memory/key_table.h"

namespace uroce::memory {

// Copies `count` bytes, from byte `offset` of the message that `list` describes, to `to`, checking
// each element's L_Key. Elements of length 0 are not looked at, their keys included. The list must
// describe at least offset + count bytes. On a refusal some bytes may have been copied.
KeyVerdict gather(const KeyTable& keys, uint32_t pd, std::span<const Sge> list, uint64_t offset,
                  uint8_t* to, uint32_t count);

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_GATHER_H
