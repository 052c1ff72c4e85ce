// SPDX-License-Identifier: BSD-3-Clause
// Memory windows: a part of a region, opened to peers under a key of its own by a work request.
#ifndef UROCE_MEMORY_WINDOW_H
#define UROCE_MEMORY_WINDOW_H

#include "memory/change.h"

namespace uroce::memory {

struct WindowBind {
  uint64_t address = 0;  // as the region names it
  uint64_t length = 0;   // 0: unbind, type 1 only
  Key window;            // the key that the window has, or had last
  Key new_key;           // differs in the low 8 bits at most
  Key region;            // L_Key
  uint32_t access = 0;   // REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC, ZERO_BASED
};

// kDone: peers may use new_key. When a key of the window was taken back by it, `ticket` says when
// no engine uses it any more (else 0). kRefused: IBA 10.6.7.2.5's conditions are not met; a window
// that was bound before stays so.
Change bind_window(KeyTable& keys, const Changer& who, const WindowBind& bind, uint64_t& ticket);

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_WINDOW_H
