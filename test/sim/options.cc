// SPDX-License-Identifier: BSD-3-Clause
// Each option of uroce-sim: what it wants, when it means anything, and what it sets.
#include "test/sim/options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace uroce::sim {
namespace {

constexpr const char* kUsage =
    "usage: uroce-sim --seed N [--steps LIST] [--log FILE] [--pcap FILE] [--plan yes]\n"
    "                          [--shrink RUNS]\n"
    "       uroce-sim --swarm N [--seed FIRST] [--jobs N] [--shrink RUNS]\n"
    "  --steps   only these steps of the plan, for example 3,17,40-44, or none\n"
    "  --log     what happens, line by line, into this file\n"
    "  --pcap    the frames, into this file\n"
    "  --plan    print the workload first\n"
    "  --jobs    processes; default: one for each CPU\n"
    "  --shrink  runs that may be spent on shrinking what fails; 0: say only that it does;\n"
    "            default 300\n";

constexpr uint64_t kJobsMax = 64;

bool number(std::string_view text, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// "3,17,40-44", or "none".
bool parse_steps(std::string_view text, std::vector<size_t>& steps) {
  if (text == "none") return true;
  if (text.empty()) return false;
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

bool take_file(std::string_view value, std::string& file) {
  file = value;
  return !file.empty();
}

bool take_steps(std::string_view value, Options& options) {
  return parse_steps(value, options.steps.emplace());
}

struct Option {
  const char* name;
  const char* wants;
  enum Use : uint8_t { kAlways, kOneSeed, kSwarm } use;    // with what it means anything
  bool (*take)(std::string_view value, Options& options);  // false: the value is wrong
};

constexpr Option kOptions[] = {
    {"--seed", "a number from 0 to 18446744073709551615", Option::kAlways,
     [](std::string_view v, Options& o) { return number(v, o.seed); }},
    {"--swarm", "a number of seeds, from 1 on", Option::kAlways,
     [](std::string_view v, Options& o) { return number(v, o.swarm) && o.swarm > 0; }},
    {"--jobs", "a number from 1 to 64", Option::kSwarm,
     [](std::string_view v, Options& o) {
       return number(v, o.jobs) && o.jobs > 0 && o.jobs <= kJobsMax;
     }},
    {"--shrink", "a number of runs, from 0 on", Option::kAlways,
     [](std::string_view v, Options& o) { return number(v, o.shrink); }},
    {"--steps", "a list such as 3,17,40-44, or none", Option::kOneSeed, take_steps},
    {"--plan", "yes or no", Option::kOneSeed,
     [](std::string_view v, Options& o) {
       o.plan = v == "yes";
       return o.plan || v == "no";
     }},
    {"--log", "a file name", Option::kOneSeed,
     [](std::string_view v, Options& o) { return take_file(v, o.log); }},
    {"--pcap", "a file name", Option::kOneSeed,
     [](std::string_view v, Options& o) { return take_file(v, o.pcap); }},
};

int refuse(const char* option, const std::string& why) {
  std::fprintf(stderr, "uroce-sim: %s%s: see uroce-sim --help\n", option, why.c_str());
  return 2;
}

const Option* find(std::string_view name) {
  const auto* const found =
      std::ranges::find(kOptions, name, [](const Option& o) { return std::string_view(o.name); });
  return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  bool seeded = false;
  for (int i = 1; i < argc; i += 2) {  // each option has a value
    const std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    const Option* const option = find(name);
    if (option == nullptr) return refuse("unknown option ", argv[i]);
    if (i + 1 == argc) return refuse(argv[i], std::string(" needs a value: ") + option->wants);
    if (!option->take(argv[i + 1], options)) {
      return refuse(argv[i], std::string(" wants ") + option->wants + ", not " + argv[i + 1]);
    }
    seeded = seeded || name == "--seed" || name == "--swarm";
  }
  if (!seeded) return refuse("", "give --seed N or --swarm N");
  for (int i = 1; i < argc; i += 2) {
    const Option::Use use = find(argv[i])->use;
    if (use == Option::kOneSeed && options.swarm != 0) {
      return refuse(argv[i], " is for one seed: leave --swarm out");
    }
    if (use == Option::kSwarm && options.swarm == 0) {
      return refuse(argv[i], " is for a swarm: give --swarm N");
    }
  }
  return std::nullopt;
}

}  // namespace uroce::sim
