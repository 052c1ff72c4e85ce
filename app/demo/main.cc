// SPDX-License-Identifier: BSD-3-Clause
// The demo: two uroce devices in one process joined by memory rings, no NIC, no huge pages, no
// root. Exit status 0 only if every check held.
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include "demo/demo.h"

namespace uroce::demo {
namespace {

constexpr const char* kArguments[] = {"uroce-demo",
                                      "--no-huge",
                                      "--no-pci",
                                      "--no-shconf",
                                      "--no-telemetry",
                                      "-m",
                                      "256",
                                      "-l",
                                      "0",
                                      "--",
                                      "--mode",
                                      "inline",
                                      "--rings",
                                      "1",
                                      "--port",
                                      "net_ring_u0,address=10.0.0.1/24",
                                      "--port",
                                      "net_ring_u1,address=10.0.0.2/24"};

void print_table(const std::vector<Row>& rows) {
  std::printf("\n%-28s  %-52s  %-42s  %s\n", "what", "measured", "checked", "verdict");
  std::printf("%s\n", std::string(135, '-').c_str());
  for (const Row& row : rows) {
    std::printf("%-28s  %-52s  %-42s  %s\n", row.what.c_str(), row.measured.c_str(),
                row.checked.c_str(), row.good ? "ok" : "WRONG");
  }
}

std::vector<Row> run(uroce_context* context) {
  const Stage stage{context, uroce_device(context, 0), uroce_device(context, 1)};
  std::vector<Row> rows;
  rows.push_back(ping_pong(stage));
  rows.push_back(write_throughput(stage));
  rows.push_back(read_throughput(stage));
  for (Row& row : multicast(stage)) rows.push_back(std::move(row));
  return rows;
}

int main() {
  uroce_context* context = nullptr;
  if (uroce_start(static_cast<int>(std::size(kArguments)), kArguments, &context) != 0) {
    std::fprintf(stderr, "uroce-demo: %s\n", uroce_error());
    return 1;
  }
  int status = 0;
  try {
    const std::vector<Row> rows = run(context);
    print_table(rows);
    for (const Row& row : rows) status |= !row.good;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "\nuroce-demo: %s\n", error.what());
    status = 1;
  }
  if (uroce_stop(context) != 0) {
    std::fprintf(stderr, "uroce-demo: %s\n", uroce_error());
    status = 1;
  }
  if (status == 0) std::printf("\nall checks held\n");
  return status;
}

}  // namespace
}  // namespace uroce::demo

int main() { return uroce::demo::main(); }
