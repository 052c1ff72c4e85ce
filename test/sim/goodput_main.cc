// SPDX-License-Identifier: BSD-3-Clause
// uroce-goodput: prints doc/goodput.md, or one case with its counters.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "test/sim/goodput.h"

namespace {

constexpr const char* kUsage =
    "usage: uroce-goodput                                            the table\n"
    "       uroce-goodput PARTIES LOSS_PPM MESSAGE_BYTES RTT_US MTU  one case; parties 0: both\n"
    "         uroce, 1: strict peer, 2: plain with probes, 3: plain go-back-N; MTU 1 ... 5\n";

bool number(const char* text, uint32_t& value) {
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  return error == std::errc{} && *end == 0;
}

struct Argument {
  const char* name;
  uint32_t least;
  uint32_t most;
};
constexpr Argument kArguments[] = {{"PARTIES", 0, 3},
                                   {"LOSS_PPM", 0, 1'000'000},
                                   {"MESSAGE_BYTES", 1, 1u << 20},
                                   {"RTT_US", 0, 1'000'000},
                                   {"MTU", 1, 5}};
constexpr int kArgumentCount = std::size(kArguments);

int one_case(char** arguments) {
  uint32_t values[kArgumentCount];
  for (int i = 0; i < kArgumentCount; ++i) {
    const auto& [name, least, most] = kArguments[i];
    if (number(arguments[i], values[i]) && values[i] >= least && values[i] <= most) continue;
    std::fprintf(stderr, "uroce-goodput: %s wants a number from %u to %u, not %s: see --help\n",
                 name, least, most, arguments[i]);
    return 2;
  }
  uroce::sim::GoodputCase c;
  c.parties = static_cast<uroce::sim::Parties>(values[0]);
  c.loss_ppm = values[1];
  c.message_bytes = values[2];
  c.round_trip = std::chrono::microseconds(values[3]);
  c.mtu = static_cast<uroce::PathMtu>(values[4]);
  const uroce::sim::Goodput result = uroce::sim::measure_goodput(c);
  std::printf("%.3f Gb/s, %llu frames, %llu sent again, %llu probes, %llu timeouts %s\n",
              result.gbit_per_s, static_cast<unsigned long long>(result.frames_sent),
              static_cast<unsigned long long>(result.sent_again),
              static_cast<unsigned long long>(result.probes),
              static_cast<unsigned long long>(result.timeouts), result.failure.c_str());
  return result.failure.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return std::fputs(kUsage, stdout), 0;
  if (argc == 1 + kArgumentCount) return one_case(argv + 1);
  if (argc != 1) {
    std::fprintf(stderr, "uroce-goodput: %d arguments, where a case has %d: see --help\n", argc - 1,
                 kArgumentCount);
    return 2;
  }
  std::fputs(uroce::sim::goodput_document().c_str(), stdout);
  return 0;
}
