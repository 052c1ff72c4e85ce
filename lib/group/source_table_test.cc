// SPDX-License-Identifier: BSD-3-Clause
// Sets of sources by owner, against a model.
#include "group/source_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/random.h"

namespace uroce::group {
namespace {

Gid source(uint64_t number) { return Gid::from_ipv4(0x0A000000 + static_cast<uint32_t>(number)); }

TEST(SourceTable, AFullTableAddsNothing) {
  SourceTable table(2, 1);
  SourceList list;
  EXPECT_NE(table.add(0, list, table.key(source(1))), kNoSlot);
  EXPECT_NE(table.add(0, list, table.key(source(2))), kNoSlot);
  EXPECT_EQ(table.add(0, list, table.key(source(3))), kNoSlot);
  EXPECT_EQ(list.count, 2u);
  table.clear(list);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(list.first, kNoSlot);
  EXPECT_NE(table.add(1, list, table.key(source(3))), kNoSlot);
}

TEST(SourceTable, AgreesWithAModelOverRandomOperations) {
  constexpr uint32_t kOwners = 5;
  SourceTable table(40, 7);
  std::vector<SourceList> lists(kOwners);
  std::map<uint32_t, std::set<Gid>> model;
  Random random(3);
  for (int step = 0; step < 20000; ++step) {
    const auto owner = static_cast<uint32_t>(random.below(kOwners));
    const SourceTable::Key key = table.key(source(random.below(12)));
    const uint32_t slot = table.find(owner, key);
    ASSERT_EQ(slot != kNoSlot, model[owner].contains(key.address));
    if (slot != kNoSlot) {
      table.remove(lists[owner], slot);
      model[owner].erase(key.address);
    } else if (table.add(owner, lists[owner], key) != kNoSlot) {
      model[owner].insert(key.address);
    } else {
      ASSERT_EQ(table.size(), 40u);
    }
    std::set<Gid> listed;
    for (uint32_t s = lists[owner].first; s != kNoSlot; s = table.next(s)) {
      ASSERT_EQ(table.owner(s), owner);
      listed.insert(table.address(s));
    }
    ASSERT_EQ(listed, model[owner]);
    ASSERT_EQ(lists[owner].count, listed.size());
  }
}

}  // namespace
}  // namespace uroce::group
