// SPDX-License-Identifier: BSD-3-Clause
// RC WRITE and READ throughput, every byte compared after every pass.
#include <chrono>
#include <cstdio>
#include <cstring>

#include "common/endpoint.h"
#include "demo/demo.h"

namespace uroce::demo {
namespace {

constexpr uint32_t kMessageBytes = 64 * 1024;
constexpr uint32_t kMessages = 64;  // in a pass
constexpr uint32_t kPassBytes = kMessageBytes * kMessages;
constexpr uint32_t kWindow = 16;
constexpr double kSeconds = 2;

// A pattern that differs from pass to pass and from place to place.
void fill(uint8_t* to, uint64_t pass) {
  uint64_t state = pass * 0x9E3779B97F4A7C15u + 1;
  for (uint32_t at = 0; at < kPassBytes; at += 8) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(to + at, &state, 8);
  }
}

class Throughput {
 public:
  Throughput(const Stage& stage, ib_wr_opcode opcode)
      : stage_(stage),
        opcode_(opcode),
        left_(stage.left, options()),
        right_(stage.right, options()) {
    const app::GidEntry left_gid = app::ipv4_gid(stage.left);
    const app::GidEntry right_gid = app::ipv4_gid(stage.right);
    left_.connect(right_gid.gid, right_.qp()->qp_num, IB_MTU_4096, 0x222222, left_gid.index);
    right_.connect(left_gid.gid, left_.qp()->qp_num, IB_MTU_4096, 0x222222, right_gid.index);
  }

  Row run(const char* what) {
    uint64_t passes = 0, wrong = 0;
    double seconds = 0;
    // The side that the data comes from: a READ fetches from the right.
    uint8_t* source = opcode_ == IB_WR_RDMA_READ ? right_.buffer() : left_.buffer();
    uint8_t* target = opcode_ == IB_WR_RDMA_READ ? left_.buffer() : right_.buffer();
    while (seconds < kSeconds) {
      fill(source, passes);
      std::memset(target, 0xEE, kPassBytes);
      const auto start = std::chrono::steady_clock::now();
      pass();
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      wrong += std::memcmp(source, target, kPassBytes) != 0;
      ++passes;
    }
    char text[96];
    std::snprintf(text, sizeof text, "%.1f Gb/s",
                  static_cast<double>(passes) * kPassBytes * 8 / seconds / 1e9);
    return {what, text,
            std::to_string(passes * (kPassBytes >> 20)) + " MiB compared, " +
                std::to_string(wrong) + " passes wrong",
            wrong == 0};
  }

 private:
  static app::EndpointOptions options() {
    app::EndpointOptions options;
    options.buffer_bytes = kPassBytes;
    return options;
  }

  void pass() {
    uint32_t posted = 0, done = 0;
    stage_.drive(
        [&] {
          ib_wc wc;
          while (app::take(left_.cq(), wc)) ++done;
          while (posted < kMessages && posted - done < kWindow) post(posted++);
          return done == kMessages;
        },
        "a pass of 4 MiB", 20);
  }

  void post(uint32_t index) {
    const uint32_t offset = index * kMessageBytes;
    const uint64_t remote = reinterpret_cast<uint64_t>(right_.buffer()) + offset;
    app::check(left_.post_rdma(opcode_, {offset, kMessageBytes}, remote, right_.mr()->rkey),
               "ib_post_send");
  }

  const Stage& stage_;
  const ib_wr_opcode opcode_;
  app::Endpoint left_;
  app::Endpoint right_;
};

}  // namespace

Row write_throughput(const Stage& stage) {
  stage.progress("RC WRITE throughput");
  return Throughput(stage, IB_WR_RDMA_WRITE).run("RC RDMA WRITE, 64 KiB");
}

Row read_throughput(const Stage& stage) {
  stage.progress("RC READ throughput");
  return Throughput(stage, IB_WR_RDMA_READ).run("RC RDMA READ, 64 KiB");
}

}  // namespace uroce::demo
