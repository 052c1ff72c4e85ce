// SPDX-License-Identifier: BSD-3-Clause
// An alarm of EAL's is the way to its interrupt thread: what is due runs between handlers.
#include "nic/interrupt_thread.h"

#include <rte_alarm.h>

#include <future>

namespace uroce::nic {
namespace {

struct Task {
  const std::function<void()>& work;
  std::promise<void> done;
};

void run(void* argument) {
  auto* const task = static_cast<Task*>(argument);
  task->work();
  task->done.set_value();
}

}  // namespace

void on_interrupt_thread(const std::function<void()>& work) {
  Task task{work, {}};
  if (rte_eal_alarm_set(1, run, &task) != 0) {  // no timer is left
    work();
    return;
  }
  task.done.get_future().wait();
}

}  // namespace uroce::nic
