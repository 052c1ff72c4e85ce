// SPDX-License-Identifier: BSD-3-Clause
// The parts of the demo. Each runs one exchange between two devices and judges it.
#ifndef UROCE_APP_DEMO_DEMO_H
#define UROCE_APP_DEMO_DEMO_H

#include <uroce/ib_verbs.h>
#include <uroce/uroce.h>

#include <functional>
#include <string>
#include <vector>

namespace uroce::demo {

// A line of the table at the end.
struct Row {
  std::string what;
  std::string measured;
  std::string checked;
  bool good = false;
};

// Two devices of one process joined by memory rings, driven by this thread.
struct Stage {
  uroce_context* context;
  ib_device* left;
  ib_device* right;

  // Polls until `done` holds; throws when it does not within `seconds` or a signal came.
  void drive(const std::function<bool()>& done, const char* what, double seconds = 5) const;
  // Shows what is going on, over the line before, when stderr is a terminal or once otherwise.
  void progress(const std::string& sentence) const;
};

Row ping_pong(const Stage& stage);
Row write_throughput(const Stage& stage);
Row read_throughput(const Stage& stage);
// Two rows: everybody gets a copy; the one that was detached, and only it, goes silent.
std::vector<Row> multicast(const Stage& stage);

}  // namespace uroce::demo

#endif  // UROCE_APP_DEMO_DEMO_H
