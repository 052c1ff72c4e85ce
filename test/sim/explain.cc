// SPDX-License-Identifier: BSD-3-Clause
// Words first, files last.
#include "test/sim/explain.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

namespace uroce::sim {
namespace {

unsigned long long ull(uint64_t value) { return value; }

// As --steps takes it.
std::string list_of(const std::vector<size_t>& steps) {
  if (steps.empty()) return "none";
  std::string text;
  for (size_t i = 0; i < steps.size();) {
    size_t end = i;
    while (end + 1 < steps.size() && steps[end + 1] == steps[end] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(steps[i]);
    if (end != i) text += "-" + std::to_string(steps[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace

void print(uint64_t seed, const RunResult& run) {
  const WireCounters& wire = run.wire;
  std::printf(
      "seed %llu: %s; %llu messages, %llu frames, %llu lost, %llu doubled, %llu late, "
      "%llu flipped, %llu off a full port, %llu off a full switch, %llu cut, %llu stalls, "
      "%llu pauses, %llu sent again, %llu new lives, %.3f s of virtual time\n",
      ull(seed), run.failure.empty() ? "good" : run.failure.c_str(), ull(run.messages),
      ull(wire.sent), ull(wire.lost), ull(wire.duplicated), ull(wire.reordered),
      ull(wire.corrupted), ull(wire.port_drops), ull(wire.tail_drops), ull(wire.cut),
      ull(wire.stalls), ull(wire.pauses), ull(run.retransmitted), ull(run.renewed),
      std::chrono::duration<double>(run.virtual_time).count());
}

void explain(const Plan& plan, const std::string& checker, size_t runs_max, std::string pcap) {
  const std::vector<size_t> kept = shrink(plan, checker, runs_max);
  const Plan smaller = with_steps(plan, kept);
  const bool shrunk = kept.size() < plan.steps.size();
  std::printf("%s %zu steps:\n%s", shrunk ? "shrunk to" : "no fewer steps fail alike: all",
              kept.size(), describe(smaller, kept).c_str());
  print(plan.seed, run_plan(smaller));
  std::printf("repeat it with: uroce-sim --seed %llu --steps %s\n", ull(plan.seed),
              list_of(kept).c_str());
  std::fflush(stdout);
  if (pcap.empty()) pcap = "uroce-sim-" + std::to_string(plan.seed) + ".pcap";
  RunOptions options;
  options.pcap = pcap;
  try {
    run_plan(smaller, options);
    std::printf("frames of the shrunk run: %s\n", pcap.c_str());
  } catch (const std::exception& error) {
    std::printf("no capture of its frames: %s; name another file with --pcap\n", error.what());
  }
}

}  // namespace uroce::sim
