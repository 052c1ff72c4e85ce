// SPDX-License-Identifier: BSD-3-Clause
// Results of a benchmark run: rows for people and for build/bench.json.
#ifndef UROCE_TEST_PERF_TABLE_H
#define UROCE_TEST_PERF_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace uroce::perf {

struct Row {
  std::string name;
  uint32_t size = 0;    // payload bytes, or entries
  double ns = 0;        // median
  double floor_ns = 0;  // median of the floor in the same rounds; 0: there is none
  double ratio = 0;     // median of the ratios round by round
  double p90 = 0;       // of the ratios; without a floor, of ns
};

// The middle and the 90th percentile of a list; not empty.
double median(std::vector<double> values);
double p90(std::vector<double> values);

void print_table(const std::vector<Row>& rows);
// A list of rows with the keys name, size, ns, floor_ns, ratio, p90, page_size. False, with a
// sentence on stderr: the file cannot be written.
bool write_json(const std::vector<Row>& rows, const std::string& path, uint64_t page_size);

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_TABLE_H
