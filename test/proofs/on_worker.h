// SPDX-License-Identifier: BSD-3-Clause
// Running a function on the thread of a polling lcore, which has no door for that: by a signal.
#ifndef UROCE_TEST_PROOFS_ON_WORKER_H
#define UROCE_TEST_PROOFS_ON_WORKER_H

namespace uroce::proofs {

// Interrupts the thread of EAL's worker lcore 1, runs `function` on it and returns when it is done.
// `function` may only do what a signal handler may. The thread then makes one system call more,
// rt_sigreturn. False: there is no such thread, or it does not answer within seconds.
bool run_on_worker(void (*function)());

}  // namespace uroce::proofs

#endif  // UROCE_TEST_PROOFS_ON_WORKER_H
