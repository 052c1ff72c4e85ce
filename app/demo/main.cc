// SPDX-License-Identifier: BSD-3-Clause
// The demo: two uroce devices in one process joined by memory rings, no NIC, no huge pages, no
// root. Exit status 0 only if every check held.
#include <cstdio>
#include <string>
#include <vector>

#include "common/ring_pair.h"
#include "common/stop_signals.h"
#include "demo/demo.h"

namespace uroce::demo {
namespace {

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

int judge(uroce_context* context) {
  const std::vector<Row> rows = run(context);
  print_table(rows);
  for (const Row& row : rows) {
    if (!row.good) return 1;
  }
  return 0;
}

constexpr const char* kUsage =
    "uroce-demo [--help]\n\n"
    "Joins two uroce devices in this process by memory rings, runs RC and UD traffic between\n"
    "them and compares every byte. Takes no options, needs no NIC, no huge pages and no root.\n"
    "Exits with 0 when every check held, with 1 when one did not or a signal came, with 2 when\n"
    "its arguments are wrong.\n";

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    std::fprintf(stderr, "uroce-demo: unknown argument %s: it takes none but --help\n", argv[i]);
    return 2;
  }
  app::catch_stop_signals();
  const int status = app::run_on_ring_pair({.program = "uroce-demo"}, judge);
  if (status == 0) std::printf("\nall checks held\n");
  return status;
}

}  // namespace
}  // namespace uroce::demo

int main(int argc, char** argv) { return uroce::demo::main(argc, argv); }
