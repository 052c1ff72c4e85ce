// SPDX-License-Identifier: BSD-3-Clause
// net_memif unmaps its rings on EAL's interrupt thread as soon as the peer has gone, whether or not
// somebody is polling them. The library is linked with --wrap=munmap, which brings that call (and
// nobody's outside the library) here: it waits until those who were inside a turn have left it. New
// turns find the port without a connection.
#include <cstddef>

#include "ibverbs/process.h"
#include "nic/interrupt_thread.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" int __real_munmap(void* address, size_t length);
extern "C" int __wrap_munmap(void* address, size_t length);

int __wrap_munmap(void* address, size_t length) {
  if (uroce::nic::is_interrupt_thread()) uroce::ibverbs::Process::instance().await_turns();
  return __real_munmap(address, length);
}
// NOLINTEND(bugprone-reserved-identifier)
