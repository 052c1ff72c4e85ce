// SPDX-License-Identifier: BSD-3-Clause
// A thread that nobody interrupts for as long as an object of this class lives, as the core of a
// worker is in production: it stays on one CPU, before everything else of the system.
//
// For the milliseconds of a measurement. Two threads must have two CPUs: one that polls would keep
// the other from ever running.
#ifndef UROCE_TEST_PERF_CPU_OF_ITS_OWN_H
#define UROCE_TEST_PERF_CPU_OF_ITS_OWN_H

#include <pthread.h>
#include <sched.h>

namespace uroce::perf {

class CpuOfItsOwn {
 public:
  CpuOfItsOwn(pthread_t thread, int cpu) : thread_(thread) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    const sched_param lowest{sched_get_priority_min(SCHED_FIFO)};
    is_granted_ = pthread_getaffinity_np(thread, sizeof before_, &before_) == 0 &&
                  pthread_setschedparam(thread, SCHED_FIFO, &lowest) == 0 &&
                  pthread_setaffinity_np(thread, sizeof one, &one) == 0;
  }
  ~CpuOfItsOwn() {
    if (!is_granted_) return;
    const sched_param none{0};
    pthread_setschedparam(thread_, SCHED_OTHER, &none);
    pthread_setaffinity_np(thread_, sizeof before_, &before_);
  }
  CpuOfItsOwn(const CpuOfItsOwn&) = delete;
  CpuOfItsOwn& operator=(const CpuOfItsOwn&) = delete;

  // False: the system does not allow it (CAP_SYS_NICE), and the thread waits for its turn as all
  // do.
  bool is_granted() const { return is_granted_; }

 private:
  const pthread_t thread_;
  cpu_set_t before_{};
  bool is_granted_ = false;
};

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_CPU_OF_ITS_OWN_H
