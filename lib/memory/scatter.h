// SPDX-License-Identifier: BSD-3-Clause
// Bytes from a packet into the buffers of a work request's scatter list.
#ifndef UROCE_MEMORY_SCATTER_H
#define UROCE_MEMORY_SCATTER_H

#include <span>

#include "memory/key_table.h"

namespace uroce::memory {

// Copies `count` bytes from `from` to byte `offset` of the buffer that `list` describes, checking
// each element's L_Key for local write. Elements of length 0 are not looked at. The list must
// describe at least offset + count bytes. On a refusal some bytes may have been copied: those
// buffers are undefined until their completion anyway.
KeyVerdict scatter(const KeyTable& keys, uint32_t pd, std::span<const Sge> list, uint64_t offset,
                   const uint8_t* from, uint32_t count);

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_SCATTER_H
