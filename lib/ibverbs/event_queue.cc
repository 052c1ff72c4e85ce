// SPDX-License-Identifier: BSD-3-Clause
// The file descriptor in front of a queue of events.
#include "ibverbs/event_queue.h"

#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace uroce::ibverbs {

EventCounter::EventCounter() : fd_(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)) {}

EventCounter::~EventCounter() {
  if (fd_ >= 0) close(fd_);
}

void EventCounter::add() { eventfd_write(fd_, 1); }

int EventCounter::take() {
  uint64_t one = 0;
  return read(fd_, &one, sizeof one) == sizeof one ? 0 : errno;
}

// Without waiting whatever the application has set, which it may change at any time. A kernel that
// does not know how (before 5.7) leaves the counts where they are: void ones, harmless.
size_t EventCounter::take_back(size_t count) {
  uint64_t one = 0;
  const iovec into{.iov_base = &one, .iov_len = sizeof one};
  size_t taken = 0;
  while (taken < count && preadv2(fd_, &into, 1, -1, RWF_NOWAIT) == sizeof one) ++taken;
  return taken;
}

}  // namespace uroce::ibverbs
