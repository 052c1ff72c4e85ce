// SPDX-License-Identifier: BSD-3-Clause
// An interrupt of our own is the way to EAL's interrupt thread: what is due runs between handlers.
// It is no alarm of EAL's: one that was ever set stays a source, whose memory EAL's cleanup takes
// from under the thread.
#define ALLOW_EXPERIMENTAL_API  // rte_intr_* of DPDK 22.11
#include "nic/interrupt_thread.h"

#include <rte_interrupts.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <future>

namespace uroce::nic {
namespace {

class Interrupt {
 public:
  Interrupt() : fd_(eventfd(1, EFD_CLOEXEC)), handle_(rte_intr_instance_alloc(0)) {
    if (fd_ < 0 || handle_ == nullptr) return;
    ready_ =
        rte_intr_fd_set(handle_, fd_) == 0 && rte_intr_type_set(handle_, RTE_INTR_HANDLE_EXT) == 0;
  }
  ~Interrupt() {
    rte_intr_instance_free(handle_);
    if (fd_ >= 0) close(fd_);
  }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Due at once. False: nothing is called.
  bool call(rte_intr_callback_fn function, void* argument) {
    return ready_ && rte_intr_callback_register(handle_, function, argument) == 0;
  }
  void acknowledge() const {
    eventfd_t count = 0;
    eventfd_read(fd_, &count);
  }
  // Returns when no call is under way.
  void end(rte_intr_callback_fn function, void* argument) {
    rte_intr_callback_unregister_sync(handle_, function, argument);
  }

 private:
  const int fd_;
  rte_intr_handle* const handle_;
  bool ready_ = false;
};

struct Task {
  const std::function<void()>& work;
  Interrupt interrupt;
  std::promise<void> done;
};

void run(void* argument) {
  auto* const task = static_cast<Task*>(argument);
  task->interrupt.acknowledge();
  task->work();
  task->done.set_value();
}

}  // namespace

void on_interrupt_thread(const std::function<void()>& work) {
  Task task{work, {}, {}};
  if (!task.interrupt.call(run, &task)) return work();  // no memory or descriptor is left
  task.done.get_future().wait();
  task.interrupt.end(run, &task);
}

bool is_interrupt_thread() { return rte_thread_is_intr() != 0; }

}  // namespace uroce::nic
