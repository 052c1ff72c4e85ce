// SPDX-License-Identifier: BSD-3-Clause
// Ending the validity of a key by a work request of ours or of a peer.
#ifndef UROCE_MEMORY_INVALIDATE_H
#define UROCE_MEMORY_INVALIDATE_H

#include "memory/change.h"

namespace uroce::memory {

enum class InvalidatedBy : uint8_t { kOwner, kPeer };

// kDone: the key is dead; `ticket` says when no engine uses any more what it stood for. kRefused:
// not a valid key of a fast region or a type 2 window of this protection domain; a region with
// windows bound to it; a window of another queue pair; for a peer a region without remote rights.
Change invalidate(KeyTable& keys, const Changer& who, Key key, InvalidatedBy by, uint64_t& ticket);

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_INVALIDATE_H
