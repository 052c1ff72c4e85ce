// SPDX-License-Identifier: BSD-3-Clause
// uroce-answerer: a device that only answers what comes; for ports that read a file of requests.
//
//   uroce-answerer ARGUMENTS-OF-UROCE_START
//
// Runs until nothing has moved for a while (5 s at most), stops, and says how many packets moved.
#include <uroce/uroce.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  uroce_context* context = nullptr;
  if (uroce_start(argc, argv, &context) != 0) {
    std::fprintf(stderr, "uroce-answerer: %s\n", uroce_error());
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  auto moved_last = start;
  long moved = 0;
  for (;;) {
    const int packets = uroce_poll(context);
    const auto now = std::chrono::steady_clock::now();
    if (packets > 0) moved_last = now;
    moved += packets;
    if (now - moved_last > std::chrono::milliseconds(300)) break;
    if (now - start > std::chrono::seconds(5)) break;
  }
  std::printf("%ld packets moved\n", moved);
  if (uroce_stop(context) != 0) {
    std::fprintf(stderr, "uroce-answerer: %s\n", uroce_error());
    return 1;
  }
  return 0;
}
