// SPDX-License-Identifier: BSD-3-Clause
// Queue memory: every part in its place, none over another, none outside.
#include "transport/qp_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace uroce::transport {
namespace {

using Range = std::pair<const uint8_t*, const uint8_t*>;

template <typename T>
Range range(const T* first, size_t count) {
  const auto* p = reinterpret_cast<const uint8_t*>(first);
  return {p, p + count * sizeof(T)};
}

void expect_apart_and_inside(std::vector<Range> parts, const Range& block) {
  std::sort(parts.begin(), parts.end());
  EXPECT_GE(parts.front().first, block.first);
  EXPECT_LE(parts.back().second, block.second);
  for (size_t i = 1; i < parts.size(); ++i) EXPECT_LE(parts[i - 1].second, parts[i].first);
  for (const Range& part : parts) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(part.first) % kCacheLine, 0u);
  }
}

struct AlignedBlock {
  explicit AlignedBlock(size_t size) : bytes(size + kCacheLine) {
    const auto at = reinterpret_cast<uintptr_t>(bytes.data());
    start = bytes.data() + (kCacheLine - at % kCacheLine) % kCacheLine;
  }
  std::vector<uint8_t> bytes;
  uint8_t* start;
};

TEST(QpMemory, PartsLieApartAndInsideForEveryTypeAndSize) {
  const std::vector<QpCapabilities> sizes = {
      {0, 0, 0, 0, 0}, {1, 1, 1, 1, 0}, {100, 3, 4, 16, 0}, {128, 512, 30, 1, 512}};
  for (const QpType type : {QpType::kGsi, QpType::kRc, QpType::kUd}) {
    for (const QpCapabilities& capabilities : sizes) {
      const size_t size = qp_memory_bytes(type, capabilities);
      EXPECT_EQ(size % 64, 0u);
      const AlignedBlock block(size);
      const QpQueues* q = carve_qp_memory(type, capabilities, block.start);
      const size_t send_slots = size_t{q->send.mask} + 1;
      const size_t recv_slots = size_t{q->recv.mask} + 1;
      std::vector<Range> parts = {
          range(q, 1), range(q->send.slots, send_slots * q->send.slot_bytes),
          range(q->recv.slots, recv_slots * q->recv.slot_bytes), range(q->progress, send_slots)};
      if (type == QpType::kRc) {
        parts.push_back(range(q->responses, kResponsesMax));
        parts.push_back(range(q->replay, kReadAtomicMax));
      } else {
        EXPECT_EQ(q->responses, nullptr);
      }
      expect_apart_and_inside(parts, {block.start, block.start + size});
    }
  }
}

TEST(QpMemory, SlotsHoldWhatWasGranted) {
  const QpCapabilities capabilities{100, 3, 4, 16, 300};
  const AlignedBlock block(qp_memory_bytes(QpType::kUd, capabilities));
  const QpQueues* q = carve_qp_memory(QpType::kUd, capabilities, block.start);
  EXPECT_EQ(q->send.depth, 100u);
  EXPECT_EQ(q->send.mask, 127u);
  EXPECT_EQ(q->recv.depth, 3u);
  EXPECT_TRUE(q->send.has_address_vectors);
  EXPECT_LE(q->send.payload_area(q->send.wqe(0)) + 300, q->send.slot(1));
  EXPECT_LE(reinterpret_cast<const uint8_t*>(q->recv.wqe(0).sge_array() + 16), q->recv.slot(1));
}

TEST(QpMemory, AQueueTakesExactlyItsDepth) {
  const QpCapabilities capabilities{3, 0, 1, 1, 0};
  const AlignedBlock block(qp_memory_bytes(QpType::kRc, capabilities));
  QpQueues* q = carve_qp_memory(QpType::kRc, capabilities, block.start);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(q->send.full());
    q->send.producer.store(i + 1);
  }
  EXPECT_TRUE(q->send.full());
  q->send.consumer.store(1);
  EXPECT_FALSE(q->send.full());
  EXPECT_TRUE(q->recv.full());
}

TEST(QpMemory, CompletionQueueHasALaneForEachEngine) {
  const size_t size = cq_memory_bytes(100, 3);
  const AlignedBlock block(size);
  const CompletionQueue* cq = carve_cq_memory(100, 3, block.start);
  ASSERT_EQ(cq->lane_count, 3u);
  std::vector<Range> parts = {range(cq, 1), range(cq->lanes, 3)};
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cq->lanes[i].depth, 100u);
    EXPECT_EQ(cq->lanes[i].mask, 127u);
    parts.push_back(range(cq->lanes[i].entries, 128));
  }
  expect_apart_and_inside(parts, {block.start, block.start + size});
}

}  // namespace
}  // namespace uroce::transport
