// SPDX-License-Identifier: BSD-3-Clause
// RC ping-pong: one message to and fro, with the round trip times as percentiles.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "common/endpoint.h"
#include "demo/demo.h"

namespace uroce::demo {
namespace {

constexpr uint32_t kBytes = 64;
constexpr uint32_t kRounds = 50000;
constexpr uint32_t kWarmUp = 1000;

void send(app::Endpoint& from, uint32_t value) {
  std::memcpy(from.buffer(), &value, sizeof value);
  app::check(from.post_send({0, kBytes, IB_SEND_INLINE}), "ib_post_send");
}

// Waits for the next message, checks it and posts its buffer again.
bool receive(const Stage& stage, app::Endpoint& at, uint32_t expected) {
  ib_wc wc{};
  stage.drive([&] { return app::take(at.cq(), wc); }, "a ping-pong message");
  uint32_t value = 0;
  std::memcpy(&value, at.buffer() + kBytes, sizeof value);
  at.post_recv(kBytes, kBytes, 0);
  return wc.byte_len == kBytes && value == expected;
}

}  // namespace

Row ping_pong(const Stage& stage) {
  stage.progress("RC ping-pong");
  app::EndpointOptions options;
  options.buffer_bytes = 2 * kBytes;
  app::Endpoint left(stage.left, options);
  app::Endpoint right(stage.right, options);
  const app::GidEntry left_gid = app::ipv4_gid(stage.left);
  const app::GidEntry right_gid = app::ipv4_gid(stage.right);
  left.connect(right_gid.gid, right.qp()->qp_num, IB_MTU_4096, 0x111111, left_gid.index);
  right.connect(left_gid.gid, left.qp()->qp_num, IB_MTU_4096, 0x111111, right_gid.index);
  left.post_recv(kBytes, kBytes, 0);
  right.post_recv(kBytes, kBytes, 0);

  std::vector<int64_t> times;
  times.reserve(kRounds);
  uint32_t wrong = 0;
  for (uint32_t round = 0; round < kWarmUp + kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    send(left, round);
    wrong += !receive(stage, right, round);
    send(right, ~round);
    wrong += !receive(stage, left, ~round);
    if (round >= kWarmUp) {
      times.push_back(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    }
  }
  std::sort(times.begin(), times.end());
  auto at = [&times](double share) {
    return static_cast<double>(times[static_cast<size_t>(share * double(times.size() - 1))]) / 1e3;
  };
  char text[128];
  std::snprintf(text, sizeof text, "round trip p50 %.2f  p99 %.2f  p99.9 %.2f  max %.1f us",
                at(0.5), at(0.99), at(0.999), at(1.0));
  return {"RC SEND ping-pong, 64 B", text,
          std::to_string(kRounds) + " rounds, " + std::to_string(wrong) + " wrong", wrong == 0};
}

}  // namespace uroce::demo
