// SPDX-License-Identifier: BSD-3-Clause
// Membership as a set: stories of attach and detach, and a model run of random operations.
#include "group/membership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <vector>

#include "base/random.h"

namespace uroce::group {
namespace {

constexpr Gid kGroupA = Gid::from_ipv4(0xEF010201);  // 239.1.2.1
constexpr Gid kGroupB = Gid::from_ipv4(0xE0010201);  // 224.1.2.1: same MAC address as A
constexpr MembershipLimits kSmall{.groups_max = 4, .memberships_max = 6, .members_max = 8};

std::vector<uint32_t> members_of(const MembershipTable& table, const Gid& mgid) {
  std::vector<uint32_t> members;
  const Group* group = table.find(mgid);
  if (group == nullptr) return members;
  for (const Membership* m = table.first(*group); m != nullptr; m = table.next(*m)) {
    members.push_back(m->member);
  }
  return members;
}

// MC-09, MC-30: membership is a set; the second attach changes nothing.
TEST(Membership, AttachingTwiceIsOneMembership_Case65) {
  MembershipTable table(kSmall, 1);
  bool is_new = false;
  EXPECT_EQ(table.attach(kGroupA, 3, &is_new), AttachResult::kAdded);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(table.attach(kGroupA, 3), AttachResult::kAlready);
  EXPECT_EQ(members_of(table, kGroupA), std::vector<uint32_t>{3});
  EXPECT_EQ(table.memberships_of(3), 1u);
  EXPECT_TRUE(table.detach(kGroupA, 3));
  EXPECT_EQ(table.memberships_of(3), 0u);
}

// MC-20 … MC-22, MC-25.
TEST(Membership, DetachOfANonMemberIsRefusedAndChangesNothing_Case65) {
  MembershipTable table(kSmall, 1);
  EXPECT_FALSE(table.detach(kGroupA, 1));
  table.attach(kGroupA, 1);
  EXPECT_FALSE(table.detach(kGroupA, 2));
  EXPECT_FALSE(table.detach(kGroupB, 1));
  EXPECT_FALSE(table.detach(kGroupA, kSmall.members_max));
  EXPECT_EQ(members_of(table, kGroupA), std::vector<uint32_t>{1});
  EXPECT_TRUE(table.detach(kGroupA, 1));
  EXPECT_FALSE(table.detach(kGroupA, 1));
}

TEST(Membership, GroupsThatShareAMacAreTwoGroups_Case65) {
  MembershipTable table(kSmall, 1);
  table.attach(kGroupA, 1);
  table.attach(kGroupB, 1);
  EXPECT_EQ(table.group_count(), 2u);
  EXPECT_TRUE(table.detach(kGroupA, 1));
  EXPECT_EQ(table.find(kGroupA), nullptr);
  EXPECT_EQ(members_of(table, kGroupB), std::vector<uint32_t>{1});
}

TEST(Membership, FirstAndLastMemberAreReported) {
  MembershipTable table(kSmall, 1);
  bool is_new = false;
  bool empty = true;
  table.attach(kGroupA, 1, &is_new);
  EXPECT_TRUE(is_new);
  table.attach(kGroupA, 2, &is_new);
  EXPECT_FALSE(is_new);
  table.detach(kGroupA, 1, &empty);
  EXPECT_FALSE(empty);
  table.detach(kGroupA, 2, &empty);
  EXPECT_TRUE(empty);
  EXPECT_EQ(table.group_count(), 0u);
}

TEST(Membership, DeliveryOrderIsAttachOrder) {
  MembershipTable table(kSmall, 1);
  for (uint32_t member : {5u, 2u, 7u, 0u}) table.attach(kGroupA, member);
  table.detach(kGroupA, 2);
  table.attach(kGroupA, 2);
  EXPECT_EQ(members_of(table, kGroupA), (std::vector<uint32_t>{5, 7, 0, 2}));
}

TEST(Membership, FullTableRefusesAndStaysAsItIs) {
  MembershipTable table(kSmall, 1);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(table.attach(Gid::from_ipv4(0xEF000000 + i), 0), AttachResult::kAdded);
  }
  EXPECT_EQ(table.attach(kGroupA, 0), AttachResult::kFull);  // no fifth group
  EXPECT_EQ(table.attach(Gid::from_ipv4(0xEF000000), 1), AttachResult::kAdded);
  EXPECT_EQ(table.attach(Gid::from_ipv4(0xEF000000), 2), AttachResult::kAdded);
  EXPECT_EQ(table.attach(Gid::from_ipv4(0xEF000000), 3), AttachResult::kFull);
  EXPECT_EQ(table.attach(Gid::from_ipv4(0xEF000000), 2), AttachResult::kAlready);
  EXPECT_TRUE(table.detach(Gid::from_ipv4(0xEF000003), 0));
  EXPECT_EQ(table.attach(kGroupA, 0), AttachResult::kAdded);
  EXPECT_EQ(table.membership_count(), 6u);
}

constexpr Gid kSourceA = Gid::from_ipv4(0x0A000001);
constexpr Gid kSourceB = Gid::from_ipv4(0x0A000002);

// Whether the only member of the group takes what the source sends.
bool admits(const MembershipTable& table, const Gid& mgid, const Gid& source) {
  return table.admits(*table.first(*table.find(mgid)), table.source_key(source));
}

TEST(Membership, AMemberBySourceTakesItsSourcesOnly) {
  MembershipTable table({.groups_max = 4, .memberships_max = 6, .members_max = 4}, 1);
  EXPECT_EQ(table.attach_source(kGroupA, 0, kSourceA), AttachResult::kAdded);
  EXPECT_EQ(table.attach_source(kGroupA, 0, kSourceA), AttachResult::kAlready);
  EXPECT_TRUE(admits(table, kGroupA, kSourceA));
  EXPECT_FALSE(admits(table, kGroupA, kSourceB));
  EXPECT_EQ(table.attach_source(kGroupA, 0, kSourceB), AttachResult::kAdded);
  EXPECT_TRUE(admits(table, kGroupA, kSourceB));
  EXPECT_EQ(table.membership_count(), 1u);
  EXPECT_FALSE(table.detach_source(kGroupA, 1, kSourceA));
  EXPECT_TRUE(table.detach_source(kGroupA, 0, kSourceA));
  EXPECT_FALSE(table.detach_source(kGroupA, 0, kSourceA));
  EXPECT_FALSE(admits(table, kGroupA, kSourceA));
  EXPECT_TRUE(table.detach_source(kGroupA, 0, kSourceB));
  EXPECT_EQ(table.find(kGroupA), nullptr) << "the last source was the membership";
}

TEST(Membership, BySourceAndOfEverySourceDoNotMix) {
  MembershipTable table({.groups_max = 4, .memberships_max = 6, .members_max = 4}, 1);
  EXPECT_EQ(table.attach(kGroupA, 0), AttachResult::kAdded);
  EXPECT_EQ(table.attach_source(kGroupA, 0, kSourceA), AttachResult::kMixed);
  EXPECT_TRUE(admits(table, kGroupA, kSourceB));
  EXPECT_TRUE(table.detach(kGroupA, 0));
  EXPECT_EQ(table.attach_source(kGroupA, 0, kSourceA), AttachResult::kAdded);
  EXPECT_EQ(table.attach(kGroupA, 0), AttachResult::kMixed);
  EXPECT_TRUE(table.detach(kGroupA, 0)) << "all its sources at once";
  EXPECT_EQ(table.attach(kGroupA, 0), AttachResult::kAdded);
  EXPECT_TRUE(admits(table, kGroupA, kSourceB)) << "none is left of before";
}

TEST(Membership, WithoutRoomForASourceNothingChanges) {
  MembershipTable table({.groups_max = 4, .memberships_max = 6, .members_max = 4, .sources_max = 1},
                        1);
  EXPECT_EQ(table.attach_source(kGroupA, 0, kSourceA), AttachResult::kAdded);
  EXPECT_EQ(table.attach_source(kGroupA, 0, kSourceB), AttachResult::kFull);
  EXPECT_EQ(table.attach_source(kGroupA, 1, kSourceA), AttachResult::kFull);
  EXPECT_EQ(table.membership_count(), 1u);
  EXPECT_TRUE(table.detach(kGroupA, 0));
  EXPECT_EQ(table.attach_source(kGroupA, 1, kSourceA), AttachResult::kAdded);
}

// The table against a map of vectors: every answer, every list and every count, at each step.
class Model {
 public:
  explicit Model(uint64_t seed) : table_(kLimits, seed), random_(seed) {}

  void step() {
    const Gid mgid = Gid::from_ipv4(0xEF000000 + static_cast<uint32_t>(random_.below(40)));
    const auto member = static_cast<uint32_t>(random_.below(kLimits.members_max));
    if (random_.below(2) == 0) {
      attach(mgid, member);
    } else {
      detach(mgid, member);
    }
  }

  void check_everything() {
    uint32_t total = 0;
    std::map<uint32_t, uint32_t> counts;
    for (const auto& [mgid, members] : groups_) {
      ASSERT_EQ(members_of(table_, mgid), members);
      ASSERT_EQ(table_.find(mgid)->member_count, members.size());
      total += static_cast<uint32_t>(members.size());
      for (uint32_t member : members) ++counts[member];
    }
    ASSERT_EQ(table_.group_count(), groups_.size());
    ASSERT_EQ(table_.membership_count(), total);
    for (uint32_t member = 0; member < kLimits.members_max; ++member) {
      ASSERT_EQ(table_.memberships_of(member), counts[member]);
      std::set<Gid> seen;
      for (auto* m = table_.first_of(member); m != nullptr; m = table_.next_of(*m)) {
        ASSERT_EQ(m->member, member);
        ASSERT_TRUE(seen.insert(table_.mgid_of(*m)).second);
      }
      ASSERT_EQ(seen.size(), counts[member]);
    }
    size_t listed = 0;
    for (auto* g = table_.next_group(nullptr); g != nullptr; g = table_.next_group(g)) {
      ASSERT_TRUE(groups_.contains(g->mgid));
      ++listed;
    }
    ASSERT_EQ(listed, groups_.size());
  }

 private:
  static constexpr MembershipLimits kLimits{
      .groups_max = 24, .memberships_max = 60, .members_max = 10};

  void attach(const Gid& mgid, uint32_t member) {
    const auto known = groups_.find(mgid);
    const bool is_member = known != groups_.end() && std::ranges::count(known->second, member) != 0;
    const bool room = memberships_ < kLimits.memberships_max &&
                      (known != groups_.end() || groups_.size() < kLimits.groups_max);
    const AttachResult right = is_member ? AttachResult::kAlready
                               : room    ? AttachResult::kAdded
                                         : AttachResult::kFull;
    bool is_new = false;
    ASSERT_EQ(table_.attach(mgid, member, &is_new), right);
    if (right != AttachResult::kAdded) return;
    ASSERT_EQ(is_new, known == groups_.end());
    groups_[mgid].push_back(member);
    ++memberships_;
  }

  void detach(const Gid& mgid, uint32_t member) {
    const auto known = groups_.find(mgid);
    const bool is_member = known != groups_.end() && std::ranges::count(known->second, member) != 0;
    bool empty = false;
    ASSERT_EQ(table_.detach(mgid, member, &empty), is_member);
    if (!is_member) return;
    std::erase(known->second, member);
    ASSERT_EQ(empty, known->second.empty());
    if (empty) groups_.erase(known);
    --memberships_;
  }

  MembershipTable table_;
  Random random_;
  std::map<Gid, std::vector<uint32_t>> groups_;
  uint32_t memberships_ = 0;
};

TEST(Membership, AgreesWithAModelOverRandomOperations) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed);
    for (int step = 0; step < 3000 && !testing::Test::HasFatalFailure(); ++step) {
      model.step();
      model.check_everything();
    }
  }
}

// --- large ---

constexpr uint32_t kGroups = 8192;
constexpr uint32_t kMembers = 4096;

Gid group_number(uint32_t i) { return Gid::from_ipv4(0xEF000000 + i); }

// Every group of the default limits, and 4096 members of one of them.
void fill(MembershipTable& table, uint32_t groups, uint32_t members) {
  for (uint32_t i = 0; i < groups; ++i) table.attach(group_number(i), i);
  for (uint32_t i = 1; i < members; ++i) table.attach(group_number(0), i);
}

TEST(Membership, EveryGroupAndThousandsOfMembersAtOnceComeAndGoInAnyOrder) {
  MembershipTable table({}, 1);
  fill(table, kGroups, kMembers);
  ASSERT_EQ(table.group_count(), kGroups);
  ASSERT_EQ(table.membership_count(), kGroups + kMembers - 1);
  ASSERT_EQ(table.find(group_number(0))->member_count, kMembers);
  EXPECT_EQ(table.attach(group_number(kGroups), 0), AttachResult::kFull);
  std::vector<uint32_t> order(kMembers);
  for (uint32_t i = 0; i < kMembers; ++i) order[i] = (i * 2731) % kMembers;  // odd: each once
  for (uint32_t i = 0; i < kMembers; i += 2) {
    ASSERT_TRUE(table.detach(group_number(0), order[i]));
  }
  const std::vector<uint32_t> left = members_of(table, group_number(0));
  EXPECT_EQ(left.size(), kMembers / 2);
  EXPECT_TRUE(std::is_sorted(left.begin(), left.end())) << "in the order of their attaching";
  for (uint32_t i = 1; i < kGroups; ++i) ASSERT_TRUE(table.detach(group_number(i), i));
  for (const uint32_t member : left) ASSERT_TRUE(table.detach(group_number(0), member));
  EXPECT_EQ(table.group_count(), 0u);
  EXPECT_EQ(table.membership_count(), 0u);
}

// Nanoseconds of detaching a member of group 0 and attaching it again: of many looks the shortest,
// which nothing else on the machine has disturbed.
int64_t change_ns(MembershipTable& table, uint32_t member) {
  using Clock = std::chrono::steady_clock;
  constexpr int kChanges = 64;
  auto shortest = Clock::duration::max();
  for (int look = 0; look < 200; ++look) {
    const auto start = Clock::now();
    for (int i = 0; i < kChanges; ++i) {
      table.detach(group_number(0), member);
      table.attach(group_number(0), member);
    }
    shortest = std::min(shortest, Clock::now() - start);
  }
  return std::chrono::nanoseconds(shortest).count() / kChanges;
}

// A walk over groups or members would make it hundreds of times dearer.
TEST(Membership, AChangeCostsTheSameHoweverManyGroupsAndMembersThereAre) {
  MembershipTable small({}, 1);
  fill(small, 2, 2);
  MembershipTable large({}, 1);
  fill(large, kGroups, kMembers);
  const int64_t alone = change_ns(small, 1);
  EXPECT_LT(change_ns(large, 1), 10 * alone + 100);
  EXPECT_LT(change_ns(large, kMembers / 2), 10 * alone + 100);
  EXPECT_LT(change_ns(large, kMembers - 1), 10 * alone + 100);
}

}  // namespace
}  // namespace uroce::group
