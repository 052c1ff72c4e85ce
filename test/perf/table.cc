// SPDX-License-Identifier: BSD-3-Clause
// Printing and writing benchmark rows.
#include "test/perf/table.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

namespace uroce::perf {
namespace {

double at_share(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

}  // namespace

double median(std::vector<double> values) { return at_share(std::move(values), 0.5); }
double p90(std::vector<double> values) { return at_share(std::move(values), 0.9); }

Row summarize(const Rounds& rounds) {
  Row row;
  row.ns = median(rounds.ns);
  row.p90 = p90(rounds.ns);
  if (rounds.beside_ns.empty()) return row;
  std::vector<double> ratios(rounds.ns.size());
  std::transform(rounds.ns.begin(), rounds.ns.end(), rounds.beside_ns.begin(), ratios.begin(),
                 std::divides<>());
  row.beside_ns = median(rounds.beside_ns);
  row.ratio = median(ratios);
  row.p90 = p90(ratios);
  return row;
}

void print_table(const std::vector<Row>& rows) {
  std::printf("%-30s %6s %10s   %-13s %10s %8s %9s\n", "what", "size", "ns", "beside", "ns",
              "ratio", "p90");
  for (const Row& row : rows) {
    std::printf("%-30s %6u %10.2f   ", row.name.c_str(), row.size, row.ns);
    if (row.beside.empty()) {
      std::printf("%-13s %10s %8s %9.2f\n", "-", "-", "-", row.p90);
    } else {
      std::printf("%-13s %10.2f %8.4f %9.4f\n", row.beside.c_str(), row.beside_ns, row.ratio,
                  row.p90);
    }
  }
}

bool write_json(const std::vector<Row>& rows, const std::string& path, uint64_t page_size) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "uroce-bench: cannot write %s: %s\n", path.c_str(), std::strerror(errno));
    return false;
  }
  std::fprintf(file, "[\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    std::fprintf(file,
                 "  {\"name\": \"%s\", \"size\": %u, \"ns\": %.3f, \"beside\": \"%s\", "
                 "\"beside_ns\": %.3f, \"ratio\": %.4f, \"p90\": %.4f, \"page_size\": %llu}%s\n",
                 row.name.c_str(), row.size, row.ns, row.beside.c_str(), row.beside_ns, row.ratio,
                 row.p90, static_cast<unsigned long long>(page_size),
                 i + 1 < rows.size() ? "," : "");
  }
  std::fprintf(file, "]\n");
  return std::fclose(file) == 0;
}

}  // namespace uroce::perf
