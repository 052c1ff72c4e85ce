// SPDX-License-Identifier: BSD-3-Clause
// UD multicast: one sender, eight members of one group; then one is detached.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/endpoint.h"
#include "demo/demo.h"

namespace uroce::demo {
namespace {

constexpr uint32_t kMembers = 8;
constexpr uint32_t kDetached = 3;  // index of the member that leaves
constexpr uint32_t kBytes = 64;
constexpr uint32_t kSlot = 40 + kBytes;  // the network header comes first
constexpr uint32_t kBurst = 16;
constexpr uint32_t kRecvs = 64;
constexpr uint32_t kQkey = 0x11111111;

ib_gid group_gid() {
  ib_gid gid{};
  const uint8_t tail[] = {0xff, 0xff, 239, 1, 1, 1};
  std::memcpy(gid.raw + 10, tail, sizeof tail);
  return gid;
}

class Fanout {
 public:
  explicit Fanout(const Stage& stage)
      : stage_(stage),
        sender_(stage.left, sender_options()),
        ah_(sender_, group_gid(), app::ipv4_gid(stage.left).index) {
    sender_.activate(kQkey);
    ib_gid group = group_gid();
    for (uint32_t i = 0; i < kMembers; ++i) {
      members_.push_back(std::make_unique<app::Endpoint>(stage.right, member_options()));
      members_[i]->activate(kQkey);
      for (uint32_t slot = 0; slot < kRecvs; ++slot)
        members_[i]->post_recv(slot * kSlot, kSlot, slot);
      app::check(ib_attach_mcast(members_[i]->qp(), &group, 0), "ib_attach_mcast");
      attached_[i] = true;
    }
  }

  ~Fanout() {
    for (uint32_t i = 0; i < kMembers; ++i) detach(i);
  }

  void detach(uint32_t member) {
    if (!attached_[member]) return;
    ib_gid group = group_gid();
    app::check(ib_detach_mcast(members_[member]->qp(), &group, 0), "ib_detach_mcast");
    attached_[member] = false;
  }

  // Sends `count` messages and waits until every attached member has all of them.
  void send(uint32_t count) {
    for (uint32_t sent = 0; sent < count; sent += kBurst) {
      for (uint32_t i = 0; i < kBurst; ++i) post();
      sent_ += kBurst;
      for (uint32_t member = 0; member < kMembers; ++member) {
        if (attached_[member]) expected_[member] += kBurst;
      }
      stage_.drive([this] { return collect(); }, "a burst to the group");
    }
    // A few turns more: whoever should be silent would speak now.
    for (int turn = 0; turn < 100; ++turn) {
      uroce_poll(stage_.context);
      collect();
    }
  }

  uint64_t sent() const { return sent_; }
  uint64_t wrong() const { return wrong_; }
  uint64_t received(uint32_t member) const { return received_[member]; }
  bool as_expected() const { return received_ == expected_ && wrong_ == 0; }
  uint64_t copies() const {
    uint64_t sum = 0;
    for (const uint64_t count : received_) sum += count;
    return sum;
  }

 private:
  static app::EndpointOptions sender_options() {
    app::EndpointOptions options;
    options.type = IB_QPT_UD;
    return options;
  }
  static app::EndpointOptions member_options() {
    app::EndpointOptions options;
    options.type = IB_QPT_UD;
    options.buffer_bytes = kRecvs * kSlot;
    options.recv_wr = kRecvs;
    return options;
  }

  void post() {
    std::memcpy(sender_.buffer(), &sequence_, sizeof sequence_);
    ++sequence_;
    app::check(
        sender_.post_datagram({0, kBytes, IB_SEND_INLINE}, {ah_.get(), IB_MULTICAST_QPN, kQkey}),
        "ib_post_send");
  }

  // Takes what has come; true when nobody misses anything.
  bool collect() {
    for (uint32_t member = 0; member < kMembers; ++member) {
      ib_wc wc;
      app::Endpoint& endpoint = *members_[member];
      while (app::take(endpoint.cq(), wc)) {
        const auto slot = static_cast<uint32_t>(wc.wr_id);
        uint64_t sequence = 0;
        std::memcpy(&sequence, endpoint.buffer() + slot * kSlot + 40, sizeof sequence);
        wrong_ += sequence != received_[member] || wc.byte_len != kSlot;
        ++received_[member];
        endpoint.post_recv(slot * kSlot, kSlot, slot);
      }
    }
    for (uint32_t member = 0; member < kMembers; ++member) {
      if (received_[member] < expected_[member]) return false;
    }
    return true;
  }

  const Stage& stage_;
  app::Endpoint sender_;
  app::AddressHandle ah_;
  std::vector<std::unique_ptr<app::Endpoint>> members_;
  std::array<bool, kMembers> attached_{};
  std::array<uint64_t, kMembers> received_{};
  std::array<uint64_t, kMembers> expected_{};
  uint64_t sequence_ = 0;
  uint64_t sent_ = 0;
  uint64_t wrong_ = 0;
};

}  // namespace

std::vector<Row> multicast(const Stage& stage) {
  stage.progress("UD multicast to eight members");
  Fanout fanout(stage);
  const auto start = std::chrono::steady_clock::now();
  fanout.send(32000);
  const double ns =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  char text[96];
  std::snprintf(text, sizeof text, "%.0f ns per copy", ns / static_cast<double>(fanout.copies()));
  std::vector<Row> rows;
  rows.push_back({"UD multicast, 1 to 8, 64 B", text,
                  std::to_string(fanout.sent()) + " sent, " + std::to_string(fanout.copies()) +
                      " copies, " + std::to_string(fanout.wrong()) + " wrong",
                  fanout.as_expected()});
  const uint64_t before = fanout.received(kDetached);
  fanout.detach(kDetached);
  fanout.send(3200);
  const uint64_t after = fanout.received(kDetached) - before;
  rows.push_back({"the same, member 4 detached",
                  "member 4 got " + std::to_string(after) + " copies",
                  "the other seven got all 3200", fanout.as_expected() && after == 0});
  return rows;
}

}  // namespace uroce::demo
