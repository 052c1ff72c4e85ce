// SPDX-License-Identifier: BSD-3-Clause
// How long attaching a queue pair to a group takes, and detaching it, while the engine is busy with
// packets and many groups are there already.
#ifndef UROCE_TEST_PERF_ATTACH_LATENCY_H
#define UROCE_TEST_PERF_ATTACH_LATENCY_H

#include <vector>

#include "test/perf/table.h"

namespace uroce::perf {

// Rows for attach and for detach at 1, 1000 and 8000 groups, on ports with and without a filter
// list; beside each, in the same rounds, the same call at 1 group. `smoke`: fewer rounds. Needs no
// EAL, and runs before it: EAL would put the caller and the engine's thread on one CPU.
std::vector<Row> run_attach_latency(bool smoke);

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_ATTACH_LATENCY_H
