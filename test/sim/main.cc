// SPDX-License-Identifier: BSD-3-Clause
// uroce-sim: one seed, or a swarm of them. What fails is shrunk, told in words and captured.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "test/sim/explain.h"
#include "test/sim/options.h"
#include "test/sim/swarm.h"

namespace uroce::sim {
namespace {

unsigned long long ull(uint64_t value) { return value; }

// False, with one line on stderr: the plan has no such step.
bool pick_steps(Plan& plan, const std::vector<size_t>& steps) {
  for (const size_t step : steps) {
    if (step < plan.steps.size()) continue;
    std::fprintf(stderr, "uroce-sim: --steps names step %zu: the plan has %zu steps, 0 to %zu\n",
                 step, plan.steps.size(), plan.steps.size() - 1);
    return false;
  }
  plan = with_steps(plan, steps);
  return true;
}

int run_one(const Options& options) {
  std::string log;
  RunOptions run_options;
  run_options.pcap = options.pcap;
  run_options.log = options.log.empty() ? nullptr : &log;
  Plan plan = draw_plan(options.seed);
  if (options.steps && !pick_steps(plan, *options.steps)) return 2;
  if (options.plan) {
    std::printf("%s", (options.steps ? describe(plan, *options.steps) : describe(plan)).c_str());
  }
  const RunResult run = run_plan(plan, run_options);
  if (!options.log.empty()) {
    std::ofstream file(options.log, std::ios::binary);
    if (!(file << log)) {
      std::fprintf(stderr, "uroce-sim: cannot write %s\n", options.log.c_str());
      return 1;
    }
  }
  print(options.seed, run);
  if (run.failure.empty()) return 0;
  if (!options.steps && options.shrink != 0) {
    explain(plan, run.checker, options.shrink, options.pcap);
  }
  return 1;
}

int run_many(const Options& options) {
  const unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
  const unsigned jobs = options.jobs == 0 ? cpus : static_cast<unsigned>(options.jobs);
  const SwarmResult sum = run_swarm(options.seed, options.swarm, jobs);
  if (sum.failed && !sum.crash.empty()) {
    std::printf("seed %llu: the process died: %s\nrepeat it with: uroce-sim --seed %llu\n",
                ull(sum.failed_seed), sum.crash.c_str(), ull(sum.failed_seed));
    return 1;
  }
  if (sum.failed) {
    const Plan plan = draw_plan(sum.failed_seed);
    const RunResult run = run_plan(plan);
    print(sum.failed_seed, run);
    if (options.shrink != 0) explain(plan, run.checker, options.shrink, options.pcap);
    return 1;
  }
  std::printf(
      "%llu seeds from %llu: all good; %llu messages, %llu frames, %llu lost, %llu stalls, "
      "%llu sent again, %llu new lives, %.1f s of virtual time\ndriven: %s\n",
      ull(options.swarm), ull(options.seed), ull(sum.messages), ull(sum.frames), ull(sum.lost),
      ull(sum.stalls), ull(sum.retransmitted), ull(sum.renewed), sum.virtual_seconds,
      describe(sum.tally).c_str());
  return 0;
}

}  // namespace
}  // namespace uroce::sim

int main(int argc, char** argv) {
  uroce::sim::Options options;
  if (const auto status = uroce::sim::parse_options(argc, argv, options)) return *status;
  // Connections that give up are part of the game: the checkers judge them.
  uroce::set_log_sink([](void*, uroce::LogLevel, std::string_view) {}, nullptr);
  try {
    return options.swarm > 0 ? uroce::sim::run_many(options) : uroce::sim::run_one(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uroce-sim: %s\n", error.what());
    return 1;
  }
}
