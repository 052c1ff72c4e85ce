// SPDX-License-Identifier: BSD-3-Clause
// What is needed to understand a run that failed: few steps, in words, and their frames.
#ifndef UROCE_TEST_SIM_EXPLAIN_H
#define UROCE_TEST_SIM_EXPLAIN_H

#include <string>

#include "test/sim/run.h"

namespace uroce::sim {

// One line on stdout: the verdict on a run, and what happened in it.
void print(uint64_t seed, const RunResult& run);

// `plan` has made `checker` complain. Shrinks it, by at most `runs_max` runs, prints the steps that
// are left and how to repeat them, and writes their frames to `pcap`; empty: a name is chosen. A
// file that cannot be written is a note: the rest has been said.
void explain(const Plan& plan, const std::string& checker, size_t runs_max, std::string pcap);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_EXPLAIN_H
