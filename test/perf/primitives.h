// SPDX-License-Identifier: BSD-3-Clause
// Microbenchmarks of single steps, by Google Benchmark.
#ifndef UROCE_TEST_PERF_PRIMITIVES_H
#define UROCE_TEST_PERF_PRIMITIVES_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "test/perf/table.h"

namespace uroce::perf {

// One row for each step and size. `smoke`: short, to see that it runs.
std::vector<Row> run_primitives(bool smoke);

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_PRIMITIVES_H
