// SPDX-License-Identifier: BSD-3-Clause
// For tests: a pair of ring ports, opened, and frames to send over them.
#ifndef UROCE_NIC_NIC_TEST_PORTS_H
#define UROCE_NIC_NIC_TEST_PORTS_H

#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "nic/port.h"
#include "nic/ring_pairs.h"

namespace uroce::nic {

inline std::vector<std::string>& test_log() {
  static std::vector<std::string> lines;
  return lines;
}

// Two ports, a and b, joined crosswise; at the end both must close with every mbuf at home.
class RingPortsTest : public ::testing::Test {
 protected:
  void open(const PortConfig& config = {}, uint32_t ring_frames = kRingFrames) {
    auto pairs = RingPairs::make(1, config.queue_count, ring_frames);
    ASSERT_TRUE(pairs.ok()) << pairs.status();
    rings = *std::move(pairs);
    a = open_one(config, 0);
    b = open_one(config, 1);
    ASSERT_TRUE(a != nullptr && b != nullptr);
  }
  void TearDown() override {
    for (const auto& port : {&a, &b}) {
      if (*port != nullptr) (*port)->drain();
    }
    for (const auto& port : {&a, &b}) {
      if (*port == nullptr) continue;
      const absl::Status closed = (*port)->close();
      EXPECT_TRUE(closed.ok()) << closed;
    }
  }
  std::unique_ptr<Port> open_one(PortConfig config, size_t index) {
    config.name = rings.port_names()[index];
    config.log = [](const std::string& line) { test_log().push_back(line); };
    auto port = Port::open(config);
    EXPECT_TRUE(port.ok()) << port.status();
    return port.ok() ? *std::move(port) : nullptr;
  }

  RingPairs rings;
  std::unique_ptr<Port> a;
  std::unique_ptr<Port> b;
};

// Fills a lent slot: Ethernet with `tag` in the last byte, whole length `length` (>= 15).
inline void fill(TxSlot& slot, uint8_t tag, uint32_t length = 64, Route route = Route::kWire) {
  std::memset(slot.room, 0x55, length);
  slot.room[length - 1] = tag;
  slot.length = length;
  slot.route = route;
}

// Sends `count` frames tagged first, first + 1, …; false when fewer slots were lent.
inline bool send(Queue& queue, uint32_t count, uint8_t first, Route route = Route::kWire) {
  const std::span<TxSlot> slots = queue.lend();
  if (slots.size() < count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    fill(slots[i], static_cast<uint8_t>(first + i), 64, route);
  }
  queue.submit(count);
  return true;
}

// The frame in a lent slot as a port would give it that stamps what it receives: what it sends over
// a ring is what the other side receives.
inline void stamp(const TxSlot& slot, const StampSource& stamps, uint64_t ticks) {
  auto* mbuf = reinterpret_cast<rte_mbuf*>(slot.token);
  *RTE_MBUF_DYNFIELD(mbuf, stamps.field_offset, uint64_t*) = ticks;
  mbuf->ol_flags |= stamps.flag;
}

// Receives once and releases; the tags in order.
inline std::vector<int> receive_tags(Queue& queue, Time now = Time{}, size_t room = 64) {
  std::vector<RxFrame> frames(room);
  const uint32_t count = queue.receive(now, frames);
  std::vector<int> tags;
  for (uint32_t i = 0; i < count; ++i) tags.push_back(frames[i].bytes[frames[i].length - 1]);
  queue.release({frames.data(), count});
  return tags;
}

}  // namespace uroce::nic

#endif  // UROCE_NIC_NIC_TEST_PORTS_H
