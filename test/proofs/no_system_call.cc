// SPDX-License-Identifier: BSD-3-Clause
// Proof: a polling thread in steady state makes no system call. The kernel kills the process at the
// first one.
//
//   no_system_call inline|worker [--break]
//
// After warm-up the polling thread takes on a seccomp filter, then 100,000 rounds run. In worker
// mode that is the lcore's thread, and the application's own, which posts and polls completions,
// takes one on as well; where both have to share one CPU, it may sleep between two looks, and
// nothing else. --break makes a harmless call on the polling thread: the process must die.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "test/proofs/on_worker.h"
#include "test/proofs/rounds.h"

namespace uroce::proofs {
namespace {

[[noreturn]] void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

// Allowed: exit_group, the return from the signal handler that brought the filter, and `sleeping`:
// a thread that waits on the CPU that another one needs must give it away.
void take_on(bool sleeping) {
  constexpr auto kLoad = static_cast<unsigned short>(BPF_LD | BPF_W | BPF_ABS);
  constexpr auto kEqual = static_cast<unsigned short>(BPF_JMP | BPF_JEQ | BPF_K);
  constexpr auto kReturn = static_cast<unsigned short>(BPF_RET | BPF_K);
  const uint32_t also = sleeping ? SYS_clock_nanosleep : SYS_exit_group;
  sock_filter code[] = {
      {kLoad, 0, 0, offsetof(seccomp_data, nr)}, {kEqual, 3, 0, SYS_exit_group},
      {kEqual, 2, 0, SYS_rt_sigreturn},          {kEqual, 1, 0, also},
      {kReturn, 0, 0, SECCOMP_RET_KILL_PROCESS}, {kReturn, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    leave(4);
  }
}

void take_on_filter() { take_on(false); }

void call_kernel() { syscall(SYS_getppid); }

int run(bool worker, bool broken) {
  const Place place = find_place(worker);
  uroce_context* context = start(place);
  if (context == nullptr) return 1;
  Rounds rounds(context, place);
  if (!rounds.run(place.warm_up())) {
    std::fprintf(stderr, "no_system_call: the warm-up failed\n");
    leave(2);
  }
  if (worker && !run_on_worker(take_on_filter)) {
    std::fprintf(stderr, "no_system_call: the worker's thread does not answer\n");
    leave(3);
  }
  if (broken && worker) run_on_worker(call_kernel);
  std::fflush(nullptr);
  take_on(place.sleeps());
  if (broken && !worker) call_kernel();
  leave(rounds.run(place.rounds()) ? 0 : 2);
}

}  // namespace
}  // namespace uroce::proofs

int main(int argc, char** argv) {
  return uroce::proofs::prove("no_system_call", argc, argv, uroce::proofs::run);
}
