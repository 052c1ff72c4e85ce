// SPDX-License-Identifier: BSD-3-Clause
// uroce-sim: one seed, or a swarm of them.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

#include "test/sim/run.h"

namespace uroce::sim {
namespace {

constexpr const char* kUsage =
    "usage: uroce-sim --seed N [--log FILE] [--pcap FILE]\n"
    "       uroce-sim --swarm N [--seed FIRST]\n";

struct Options {
  uint64_t seed = 1;
  uint64_t swarm = 0;  // 0: one run
  std::string log;
  std::string pcap;
};

bool number(const char* text, uint64_t& value) {
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  return error == std::errc{} && *end == 0;
}

// False, with one sentence on stderr: the arguments are wrong.
bool parse(int argc, char** argv, Options& options) {
  bool any = false;
  for (int i = 1; i < argc; i += 2) {  // each option has a value
    const std::string_view option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    bool good = value != nullptr;
    if (option == "--seed") {
      good = good && number(value, options.seed);
      any = true;
    } else if (option == "--swarm") {
      good = good && number(value, options.swarm) && options.swarm > 0;
      any = true;
    } else if (option == "--log") {
      options.log = good ? value : "";
    } else if (option == "--pcap") {
      options.pcap = good ? value : "";
    } else {
      std::fprintf(stderr, "%suroce-sim: unknown option %s\n", kUsage, argv[i]);
      return false;
    }
    if (!good) {
      std::fprintf(stderr, "%suroce-sim: %s wants %s\n", kUsage, argv[i],
                   option == "--seed" || option == "--swarm" ? "a number" : "a file name");
      return false;
    }
  }
  if (!any) std::fprintf(stderr, "%suroce-sim: give --seed or --swarm\n", kUsage);
  return any;
}

void print(uint64_t seed, const RunResult& run) {
  std::printf(
      "seed %llu: %s; %llu messages, %llu frames, %llu lost, %llu doubled, %llu late, "
      "%llu flipped, %llu off a full port, %llu stalls, %llu sent again, %.3f s of virtual time\n",
      static_cast<unsigned long long>(seed), run.failure.empty() ? "good" : run.failure.c_str(),
      static_cast<unsigned long long>(run.messages), static_cast<unsigned long long>(run.wire.sent),
      static_cast<unsigned long long>(run.wire.lost),
      static_cast<unsigned long long>(run.wire.duplicated),
      static_cast<unsigned long long>(run.wire.reordered),
      static_cast<unsigned long long>(run.wire.corrupted),
      static_cast<unsigned long long>(run.wire.port_drops),
      static_cast<unsigned long long>(run.wire.stalls),
      static_cast<unsigned long long>(run.retransmitted),
      std::chrono::duration<double>(run.virtual_time).count());
}

int run_one(const Options& options) {
  std::string log;
  RunOptions run_options;
  run_options.pcap = options.pcap;
  run_options.log = options.log.empty() ? nullptr : &log;
  const RunResult run = run_seed(options.seed, run_options);
  if (!options.log.empty()) {
    std::ofstream file(options.log, std::ios::binary);
    if (!(file << log)) {
      std::fprintf(stderr, "uroce-sim: cannot write %s\n", options.log.c_str());
      return 1;
    }
  }
  print(options.seed, run);
  return run.failure.empty() ? 0 : 1;
}

int run_swarm(const Options& options) {
  RunResult sum;
  for (uint64_t seed = options.seed; seed < options.seed + options.swarm; ++seed) {
    const RunResult run = run_seed(seed);
    if (!run.failure.empty()) {
      print(seed, run);
      std::printf("repeat it with: uroce-sim --seed %llu --log run.log --pcap run.pcap\n",
                  static_cast<unsigned long long>(seed));
      return 1;
    }
    sum.messages += run.messages;
    sum.wire.sent += run.wire.sent;
    sum.wire.lost += run.wire.lost;
    sum.wire.port_drops += run.wire.port_drops;
    sum.wire.stalls += run.wire.stalls;
    sum.retransmitted += run.retransmitted;
    sum.virtual_time += run.virtual_time;
  }
  std::printf(
      "%llu seeds from %llu: all good; %llu messages, %llu frames, %llu lost, %llu stalls, %llu "
      "off a full port, %llu sent again, %.1f s of virtual time\n",
      static_cast<unsigned long long>(options.swarm), static_cast<unsigned long long>(options.seed),
      static_cast<unsigned long long>(sum.messages), static_cast<unsigned long long>(sum.wire.sent),
      static_cast<unsigned long long>(sum.wire.lost),
      static_cast<unsigned long long>(sum.wire.stalls),
      static_cast<unsigned long long>(sum.wire.port_drops),
      static_cast<unsigned long long>(sum.retransmitted),
      std::chrono::duration<double>(sum.virtual_time).count());
  return 0;
}

}  // namespace
}  // namespace uroce::sim

int main(int argc, char** argv) {
  uroce::sim::Options options;
  if (!uroce::sim::parse(argc, argv, options)) return 2;
  try {
    return options.swarm > 0 ? uroce::sim::run_swarm(options) : uroce::sim::run_one(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uroce-sim: seed %llu: %s\n",
                 static_cast<unsigned long long>(options.seed), error.what());
    return 1;
  }
}
