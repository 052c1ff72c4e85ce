// SPDX-License-Identifier: BSD-3-Clause
// uroce-sim: one seed, or a swarm of them. What fails is shrunk, told in words and captured.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "test/sim/run.h"
#include "test/sim/swarm.h"

namespace uroce::sim {
namespace {

constexpr const char* kUsage =
    "usage: uroce-sim --seed N [--steps LIST] [--log FILE] [--pcap FILE] [--plan yes]\n"
    "       uroce-sim --swarm N [--seed FIRST] [--jobs N] [--shrink RUNS]\n"
    "  --steps   only these steps of the plan, for example 3,17,40-44\n"
    "  --plan    print the workload first\n"
    "  --jobs    processes; default: one for each CPU\n"
    "  --shrink  runs that may be spent on shrinking what fails; default 300\n";

struct Options {
  uint64_t seed = 1;
  uint64_t swarm = 0;  // 0: one run
  uint64_t jobs = 0;   // 0: one for each CPU
  uint64_t shrink = 300;
  std::string steps;
  std::string log;
  std::string pcap;
  bool plan = false;
};

bool number(std::string_view text, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// "3,17,40-44"; an empty list is none at all.
bool parse_steps(std::string_view text, std::vector<size_t>& steps) {
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const size_t dash = item.find('-');
    uint64_t first = 0;
    uint64_t last = 0;
    if (!number(item.substr(0, dash), first)) return false;
    last = first;
    if (dash != std::string_view::npos && !number(item.substr(dash + 1), last)) return false;
    if (last - first > 100'000) return false;
    for (uint64_t i = first; i <= last; ++i) steps.push_back(i);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

std::string list_of(const std::vector<size_t>& steps) {
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

// One option and its value. False: the value is wrong.
bool take_option(std::string_view option, const char* value, Options& options, bool& known) {
  known = true;
  if (option == "--seed") return number(value, options.seed);
  if (option == "--swarm") return number(value, options.swarm) && options.swarm > 0;
  if (option == "--jobs") return number(value, options.jobs) && options.jobs <= 64;
  if (option == "--shrink") return number(value, options.shrink);
  std::vector<size_t> steps;
  if (option == "--steps") return parse_steps(options.steps = value, steps);
  if (option == "--plan") return options.plan = true;
  if (option == "--log") return !(options.log = value).empty();
  if (option == "--pcap") return !(options.pcap = value).empty();
  return known = false;
}

// False, with one sentence on stderr: the arguments are wrong.
bool parse(int argc, char** argv, Options& options) {
  bool any = false;
  for (int i = 1; i < argc; i += 2) {  // each option has a value
    const std::string_view option = argv[i];
    bool known = false;
    const bool good = take_option(option, i + 1 < argc ? argv[i + 1] : "", options, known);
    if (!known) {
      std::fprintf(stderr, "%suroce-sim: unknown option %s\n", kUsage, argv[i]);
      return false;
    }
    if (!good) {
      const bool file = option == "--log" || option == "--pcap";
      std::fprintf(stderr, "%suroce-sim: %s wants %s\n", kUsage, argv[i],
                   file                  ? "a file name"
                   : option == "--steps" ? "a list of numbers"
                                         : "a number");
      return false;
    }
    any = any || option == "--seed" || option == "--swarm";
  }
  if (!any) std::fprintf(stderr, "%suroce-sim: give --seed or --swarm\n", kUsage);
  return any;
}

unsigned long long ull(uint64_t value) { return value; }

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

// What is needed to understand a failure: few steps, in words, and their frames.
void explain(const Plan& plan, const std::string& checker, const Options& options) {
  const std::vector<size_t> kept = shrink(plan, checker, options.shrink);
  const std::string pcap =
      options.pcap.empty() ? "uroce-sim-" + std::to_string(plan.seed) + ".pcap" : options.pcap;
  const Plan smaller = with_steps(plan, kept);
  RunOptions run_options;
  run_options.pcap = pcap;
  const RunResult run = run_plan(smaller, run_options);
  std::printf("shrunk to %zu steps:\n%s", kept.size(), describe(smaller, kept).c_str());
  print(plan.seed, run);
  std::printf("frames of the shrunk run: %s\nrepeat it with: uroce-sim --seed %llu --steps %s\n",
              pcap.c_str(), ull(plan.seed), list_of(kept).c_str());
}

int run_one(const Options& options) {
  std::string log;
  RunOptions run_options;
  run_options.pcap = options.pcap;
  run_options.log = options.log.empty() ? nullptr : &log;
  Plan plan = draw_plan(options.seed);
  std::vector<size_t> steps;
  parse_steps(options.steps, steps);
  if (!steps.empty()) plan = with_steps(plan, steps);
  if (options.plan)
    std::printf("%s", steps.empty() ? describe(plan).c_str() : describe(plan, steps).c_str());
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
  if (steps.empty()) explain(plan, run.checker, options);
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
    if (options.shrink != 0) explain(plan, run.checker, options);
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
  if (!uroce::sim::parse(argc, argv, options)) return 2;
  // Connections that give up are part of the game: the checkers judge them.
  uroce::set_log_sink([](void*, uroce::LogLevel, std::string_view) {}, nullptr);
  try {
    return options.swarm > 0 ? uroce::sim::run_many(options) : uroce::sim::run_one(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uroce-sim: %s\n", error.what());
    return 1;
  }
}
