// SPDX-License-Identifier: BSD-3-Clause
// Attaching, detaching and finding. See membership.h for the structure.
#include "group/membership.h"

#include "base/assert.h"

namespace uroce::group {

MembershipTable::MembershipTable(const MembershipLimits& limits, uint64_t seed)
    : limits_(limits),
      hash_(seed),
      groups_by_mgid_(limits.groups_max),
      pairs_(limits.memberships_max),
      sources_(limits.sources_max, seed),
      groups_(std::make_unique<Group[]>(limits.groups_max)),
      memberships_(std::make_unique<Membership[]>(limits.memberships_max)),
      members_(std::make_unique<Member[]>(limits.members_max)) {
  // Lowest slot first, so that a run repeats and a display is in a natural order.
  for (uint32_t slot = limits.groups_max; slot-- > 0;) {
    groups_[slot].first = free_group_;
    free_group_ = slot;
  }
  for (uint32_t slot = limits.memberships_max; slot-- > 0;) {
    memberships_[slot].next_in_group = free_membership_;
    free_membership_ = slot;
  }
}

AttachResult MembershipTable::attach(const Gid& mgid, uint32_t member, bool* group_is_new) {
  UROCE_ASSERT(mgid.is_multicast() && member < limits_.members_max);
  uint32_t group = find_group(mgid);
  const bool is_new = group == kNoSlot;
  if (const uint32_t pair = is_new ? kNoSlot : find_pair(group, member); pair != kNoSlot) {
    const bool by_source = memberships_[pair].sources.count != 0;
    return by_source ? AttachResult::kMixed : AttachResult::kAlready;
  }
  if (free_membership_ == kNoSlot) return AttachResult::kFull;
  if (is_new) {
    group = take_group(mgid);
    if (group == kNoSlot) return AttachResult::kFull;
  }
  const uint32_t slot = free_membership_;
  free_membership_ = memberships_[slot].next_in_group;
  memberships_[slot] = {.group = group, .member = member};
  link(slot);
  pairs_.insert(pair_hash(group, member), slot);
  if (group_is_new != nullptr) *group_is_new = is_new;
  return AttachResult::kAdded;
}

bool MembershipTable::detach(const Gid& mgid, uint32_t member, bool* group_became_empty) {
  if (member >= limits_.members_max) return false;
  const uint32_t group = find_group(mgid);
  if (group == kNoSlot) return false;
  const uint32_t slot = find_pair(group, member);
  if (slot == kNoSlot) return false;
  pairs_.erase(pair_hash(group, member), slot, [this](uint32_t other) {
    return pair_hash(memberships_[other].group, memberships_[other].member);
  });
  unlink(slot);
  sources_.clear(memberships_[slot].sources);
  memberships_[slot] = {.next_in_group = free_membership_};
  free_membership_ = slot;
  const bool empty = groups_[group].member_count == 0;
  if (empty) give_group(group);
  if (group_became_empty != nullptr) *group_became_empty = empty;
  return true;
}

AttachResult MembershipTable::attach_source(const Gid& mgid, uint32_t member, const Gid& source) {
  const uint32_t group = find_group(mgid);
  uint32_t slot = group == kNoSlot ? kNoSlot : find_pair(group, member);
  const SourceTable::Key key = sources_.key(source);
  if (slot != kNoSlot) {
    if (memberships_[slot].sources.count == 0) return AttachResult::kMixed;
    if (sources_.find(slot, key) != kNoSlot) return AttachResult::kAlready;
  }
  if (sources_.is_full()) return AttachResult::kFull;
  if (slot == kNoSlot) {
    if (const AttachResult result = attach(mgid, member); result != AttachResult::kAdded) {
      return result;
    }
    slot = find_pair(find_group(mgid), member);
  }
  sources_.add(slot, memberships_[slot].sources, key);
  return AttachResult::kAdded;
}

bool MembershipTable::detach_source(const Gid& mgid, uint32_t member, const Gid& source) {
  const uint32_t group = find_group(mgid);
  const uint32_t slot = group == kNoSlot ? kNoSlot : find_pair(group, member);
  if (slot == kNoSlot) return false;
  const uint32_t entry = sources_.find(slot, sources_.key(source));
  if (entry == kNoSlot) return false;
  if (memberships_[slot].sources.count == 1) return detach(mgid, member);
  sources_.remove(memberships_[slot].sources, entry);
  return true;
}

const Group* MembershipTable::find(const Gid& mgid) const {
  const uint32_t slot = find_group(mgid);
  return slot == kNoSlot ? nullptr : &groups_[slot];
}

const Group* MembershipTable::next_group(const Group* after) const {
  const Group* end = groups_.get() + limits_.groups_max;
  for (const Group* g = after == nullptr ? groups_.get() : after + 1; g != end; ++g) {
    if (g->member_count != 0) return g;
  }
  return nullptr;
}

uint32_t MembershipTable::find_group(const Gid& mgid) const {
  return groups_by_mgid_.find(hash_(mgid),
                              [&](uint32_t slot) { return groups_[slot].mgid == mgid; });
}

uint32_t MembershipTable::find_pair(uint32_t group, uint32_t member) const {
  return pairs_.find(pair_hash(group, member), [&](uint32_t slot) {
    return memberships_[slot].group == group && memberships_[slot].member == member;
  });
}

uint32_t MembershipTable::take_group(const Gid& mgid) {
  const uint32_t slot = free_group_;
  if (slot == kNoSlot) return kNoSlot;
  free_group_ = groups_[slot].first;
  groups_[slot] = {.mgid = mgid};
  groups_by_mgid_.insert(hash_(mgid), slot);
  return slot;
}

void MembershipTable::give_group(uint32_t slot) {
  groups_by_mgid_.erase(hash_(groups_[slot].mgid), slot,
                        [this](uint32_t other) { return hash_(groups_[other].mgid); });
  groups_[slot] = {.first = free_group_};
  free_group_ = slot;
}

// Puts a membership at the end of its group's and of its member's list.
void MembershipTable::link(uint32_t slot) {
  Membership& m = memberships_[slot];
  Group& group = groups_[m.group];
  Member& member = members_[m.member];
  m.previous_in_group = group.last;
  (group.last == kNoSlot ? group.first : memberships_[group.last].next_in_group) = slot;
  group.last = slot;
  ++group.member_count;
  m.previous_of_member = member.last;
  (member.last == kNoSlot ? member.first : memberships_[member.last].next_of_member) = slot;
  member.last = slot;
  ++member.count;
}

void MembershipTable::unlink(uint32_t slot) {
  const Membership& m = memberships_[slot];
  Group& group = groups_[m.group];
  Member& member = members_[m.member];
  const auto before = [&](uint32_t at) -> Membership& { return memberships_[at]; };
  (m.previous_in_group == kNoSlot ? group.first : before(m.previous_in_group).next_in_group) =
      m.next_in_group;
  (m.next_in_group == kNoSlot ? group.last : before(m.next_in_group).previous_in_group) =
      m.previous_in_group;
  --group.member_count;
  (m.previous_of_member == kNoSlot ? member.first : before(m.previous_of_member).next_of_member) =
      m.next_of_member;
  (m.next_of_member == kNoSlot ? member.last : before(m.next_of_member).previous_of_member) =
      m.previous_of_member;
  --member.count;
}

}  // namespace uroce::group
