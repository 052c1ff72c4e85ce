// SPDX-License-Identifier: BSD-3-Clause
// The goodput table: every combination of loss, message size, round trip and path MTU.
#include <array>
#include <cstdio>

#include "test/sim/goodput.h"

namespace uroce::sim {
namespace {

constexpr const char* kHead =
    "# Goodput over a lossy link\n"
    "\n"
    "One RC connection that writes with RDMA WRITE over 25 Gb/s, in virtual time: two real "
    "engines, hosts that cost no\n"
    "time, and a link that loses frames of both directions alike, ACKs and NAKs too. 32 MiB for "
    "each figure; 4 MiB (at\n"
    "most 1024 packets) may be under way, more than twice what the link holds; `timeout` 10 (4.2 "
    "ms), `retry_cnt` 7. The\n"
    "figures are exact and repeat bit for bit. Made by `./run goodput > doc/goodput.md`; a test "
    "makes it again.\n"
    "\n"
    "Gb/s of payload, and per cent of the same row without loss:\n"
    "\n"
    "- **uroce**: both ends as they are. The responder keeps early packets, the requester repairs "
    "what is named.\n"
    "- **strict peer**: the responder drops early packets, as go-back-N has it; the requester "
    "finds out.\n"
    "- **go-back-N**: the same responder, and a requester without selective repeat and tail "
    "probes.\n"
    "\n"
    "One gap is closed per round trip. At path MTU 1024 a round trip of 100 µs holds 290 packets, "
    "three of which are lost\n"
    "at 1 %: such rows cannot come near the line's rate, whatever the requester does with NAKs "
    "that name one packet.\n";

std::string size_name(uint32_t bytes) {
  return bytes >= 1u << 20 ? std::to_string(bytes >> 20) + " MiB"
                           : std::to_string(bytes >> 10) + " KiB";
}

std::string cell(const Goodput& goodput, double lossless) {
  if (!goodput.failure.empty()) return goodput.failure;
  char text[64];
  std::snprintf(text, sizeof text, "%.2f (%.0f %%)", goodput.gbit_per_s,
                100 * goodput.gbit_per_s / lossless);
  return text;
}

// The rows of one message size: each loss in turn, every pair of parties in each.
std::string rows(GoodputCase c) {
  constexpr std::array kParties = {Parties::kBothUroce, Parties::kStrictPeer,
                                   Parties::kPlainGoBackN};
  std::array<double, kParties.size()> lossless{};
  std::string text;
  for (const uint32_t loss_ppm : {0u, 1'000u, 10'000u, 30'000u}) {
    char loss[32];
    std::snprintf(loss, sizeof loss, " | %g %% |", loss_ppm / 1e4);
    text += "| " + size_name(c.message_bytes) + loss;
    for (size_t i = 0; i < kParties.size(); ++i) {
      c.parties = kParties[i];
      c.loss_ppm = loss_ppm;
      const Goodput goodput = measure_goodput(c);
      if (loss_ppm == 0) lossless[i] = goodput.gbit_per_s;
      text += " " + cell(goodput, lossless[i]) + " |";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string goodput_document() {
  std::string text = kHead;
  for (const PathMtu mtu : {PathMtu::k4096, PathMtu::k1024}) {
    for (const int64_t round_trip_us : {10, 100}) {
      text += "\n## Path MTU " + std::to_string(bytes(mtu)) + ", round trip " +
              std::to_string(round_trip_us) + " µs\n\n" +
              "| message | loss | uroce | strict peer | go-back-N |\n|---|---|---|---|---|\n";
      for (const uint32_t message : {4u << 10, 64u << 10, 1u << 20}) {
        GoodputCase c;
        c.mtu = mtu;
        c.round_trip = std::chrono::microseconds(round_trip_us);
        c.message_bytes = message;
        text += rows(c);
      }
    }
  }
  return text;
}

}  // namespace uroce::sim
