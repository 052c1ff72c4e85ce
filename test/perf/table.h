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
  uint32_t size = 0;     // payload bytes, entries, members, groups
  double ns = 0;         // median
  std::string beside{};  // what was measured in the same rounds; empty: nothing
  double beside_ns = 0;  // its median
  double ratio = 0;      // median of the ratios round by round
  double p90 = 0;        // of the ratios; without anything beside it, of ns
};

// The middle and the 90th percentile of a list; not empty.
double median(std::vector<double> values);
double p90(std::vector<double> values);

// The figures of one thing, round by round, beside those of another.
struct Rounds {
  std::vector<double> ns;
  std::vector<double> beside_ns;
};
// A row of their medians and of the ratios round by round; its name, its size and what `beside` is
// are the caller's. Without rounds of the other it stands alone.
Row summarize(const Rounds& rounds);

void print_table(const std::vector<Row>& rows);
// A list of rows with the keys name, size, ns, beside, beside_ns, ratio, p90, page_size; alone, a
// row has beside "" and zeros. False, with a sentence on stderr: the file cannot be written.
bool write_json(const std::vector<Row>& rows, const std::string& path, uint64_t page_size);

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_TABLE_H
