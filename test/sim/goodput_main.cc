// SPDX-License-Identifier: BSD-3-Clause
// uroce-goodput: prints doc/goodput.md, or one case with its counters.
#include <charconv>
#include <cstdio>
#include <cstring>

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

int one_case(char** arguments) {
  uint32_t values[5];
  for (int i = 0; i < 5; ++i) {
    if (!number(arguments[i], values[i])) return std::fputs(kUsage, stderr), 2;
  }
  if (values[0] > 3 || values[2] == 0 || values[2] > 1u << 20 || values[4] < 1 || values[4] > 5) {
    return std::fputs(kUsage, stderr), 2;
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
  if (argc == 6) return one_case(argv + 1);
  if (argc != 1) return std::fputs(kUsage, stderr), 2;
  std::fputs(uroce::sim::goodput_document().c_str(), stdout);
  return 0;
}
