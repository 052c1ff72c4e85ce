// SPDX-License-Identifier: BSD-3-Clause
// Tests of the QPNs that are handed out.
#include "device/qpn_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace uroce::device {
namespace {

constexpr engine::QpnLayout kLayout(4, 2, 3);

// QP-01: 2 … 0xFFFFFE.
TEST(QpnAllocator, ReservedNumbersNeverComeWhateverTheGenerations) {
  SeededIdSource ids(1);
  // Four generations only: the reserved numbers 0 and 1 come up again and again.
  const engine::QpnLayout tight(2, 1, 22);
  QpnAllocator qpns(tight, ids);
  for (int i = 0; i < 10'000; ++i) {
    const Qpn qpn = *qpns.take(0);
    ASSERT_GT(qpn.value(), 1u);
    ASSERT_LT(qpn.value(), 0xFFFFFFu);
    qpns.give(qpn);
  }
}

TEST(QpnAllocator, TheNumberNamesTheEngineAndAFreeSlot) {
  SeededIdSource ids(2);
  QpnAllocator qpns(kLayout, ids);
  std::set<uint32_t> slots;
  for (int i = 0; i < 4; ++i) {
    const Qpn qpn = *qpns.take(1);
    EXPECT_EQ(kLayout.engine_of(qpn), 1u);
    EXPECT_TRUE(slots.insert(kLayout.slot_of(qpn)).second);
  }
  EXPECT_FALSE(qpns.take(1));
  EXPECT_EQ(qpns.emptiest_engine(), 0u);
  for (int i = 0; i < 4; ++i) qpns.take(0);
  EXPECT_FALSE(qpns.emptiest_engine());
}

TEST(QpnAllocator, AFreedNumberIsNotHandedOutAgainAtOnce) {
  SeededIdSource ids(3);
  QpnAllocator qpns(kLayout, ids);
  std::map<uint32_t, uint32_t> last;
  for (int i = 0; i < 10'000; ++i) {
    const Qpn qpn = *qpns.take(0);
    const uint32_t slot = kLayout.slot_of(qpn);
    if (last.contains(slot)) {
      EXPECT_NE(last[slot], qpn.value());
    }
    last[slot] = qpn.value();
    qpns.give(qpn);
  }
  EXPECT_EQ(last.size(), 4u) << "slots take turns";
}

// Cases 55.
TEST(QpnAllocator, NumbersAreNotConsecutive) {
  CsprngIdSource ids;
  const engine::QpnLayout layout(1024, 1, 10);
  QpnAllocator qpns(layout, ids);
  int neighbours = 0;
  uint32_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint32_t qpn = qpns.take(0)->value();
    neighbours += qpn == last + 1 ? 1 : 0;
    last = qpn;
  }
  EXPECT_LT(neighbours, 10);
}

}  // namespace
}  // namespace uroce::device
