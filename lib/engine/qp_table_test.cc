// SPDX-License-Identifier: BSD-3-Clause
// Where a QPN's context lies, and that no QPN but the exact one finds it.
#include "engine/qp_table.h"

#include <gtest/gtest.h>

#include <set>

namespace uroce::engine {
namespace {

QpnLayout layout_of(uint32_t engines, uint32_t slots) {
  DeviceShared shared;
  shared.engine_count = engines;
  shared.qp_slots_per_engine = slots;
  return QpnLayout::of(shared);
}

TEST(QpnLayout, LowBitsAreTheDeviceWideSlot) {
  const QpnLayout layout = layout_of(4, 1024);
  EXPECT_EQ(layout.slot_bits, 12u);
  const Qpn qpn(0xABC000 | 3 * 1024 | 17);
  EXPECT_EQ(layout.engine_of(qpn), 3u);
  EXPECT_EQ(layout.slot_of(qpn), 17u);
}

TEST(QpnLayout, AnOddNumberOfEnginesLeavesSlotsOfNobody) {
  const QpnLayout layout = layout_of(3, 8);
  EXPECT_EQ(layout.slot_bits, 5u);
  EXPECT_EQ(layout.engine_of(Qpn(31)), 3u) << "no such engine";
}

TEST(QpnLayout, QpOneIsOfEngineZeroAndHasASlotBehindTheOthers) {
  const QpnLayout layout = layout_of(2, 8);
  EXPECT_EQ(layout.engine_of(kGsiQpn), 0u);
  EXPECT_EQ(layout.slot_of(kGsiQpn), 8u);
  EXPECT_EQ(layout.slot_of(Qpn(0x100001)), 1u) << "not confused with slot 1 of later generations";
}

TEST(QpTable, TheFullQpnIsCompared) {
  QpTable table(layout_of(2, 8), 1);
  transport::QpQueues queues;
  const Qpn qpn(0x123450 | 8 | 5);
  ASSERT_TRUE(table.owns(qpn));
  EXPECT_EQ(table.find(qpn), nullptr);
  transport::QpContext& qp = table.open(qpn);
  EXPECT_EQ(table.find(qpn), nullptr) << "no queues yet: not there";
  qp.queues = &queues;
  EXPECT_EQ(table.find(qpn), &qp);
  EXPECT_EQ(table.find(Qpn(0x223450 | 8 | 5)), nullptr) << "another generation";
  EXPECT_FALSE(table.owns(Qpn(0x123450 | 5)));
  EXPECT_EQ(table.slot_of(qp), 5u);
}

TEST(QpTable, AReusedSlotBeginsFresh_Case25) {
  QpTable table(layout_of(1, 4), 0);
  transport::QpQueues queues;
  transport::QpContext& first = table.open(Qpn(0x10 | 2));
  first.queues = &queues;
  first.pkey_violations.add(3);
  first.resp.expected_psn = Psn(77);
  table.close(first);
  EXPECT_EQ(table.find(Qpn(0x10 | 2)), nullptr);
  transport::QpContext& second = table.open(Qpn(0x20 | 2));
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(second.pkey_violations.value(), 0u);
  EXPECT_EQ(second.resp.expected_psn, Psn(0));
  EXPECT_EQ(second.qpn, Qpn(0x20 | 2));
}

TEST(QpTable, EverySlotIsAnAlignedContextOfItsOwn) {
  QpTable table(layout_of(1, 16), 0);
  std::set<const transport::QpContext*> seen;
  for (uint32_t slot = 0; slot < table.slot_count(); ++slot) {
    table.prefetch_slot(slot);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&table.at(slot)) % 64, 0u);
    seen.insert(&table.at(slot));
  }
  EXPECT_EQ(seen.size(), 17u);
}

}  // namespace
}  // namespace uroce::engine
