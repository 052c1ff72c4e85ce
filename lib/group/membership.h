// SPDX-License-Identifier: BSD-3-Clause
// Which queue pairs of an engine are in which multicast groups: a set of (group, member) pairs.
//
// Three fixed arrays: groups, memberships, members. A group holds the list of its memberships in
// attach order, which is the order of delivery; a member holds the list of its memberships. A
// membership by source holds the list of its sources; without any it is of every source. Both
// lists of memberships run through the membership itself (doubly linked), so a pair is taken out in
// constant time once it is found; two hash indexes (by MGID, by (group, member)) find it. Nothing
// is allocated after construction and nothing is ever rehashed: attach, detach and find cost the
// same on the first day and after a year of churn. The hashes are keyed, so that nobody who chooses
// group addresses can make them collide.
//
// Invariants: a group exists exactly while it has a member; free lists and used entries partition
// each array; each membership is in one list of each kind and in the pair index.
#ifndef UROCE_GROUP_MEMBERSHIP_H
#define UROCE_GROUP_MEMBERSHIP_H

#include <cstdint>
#include <memory>

#include "base/keyed_hash.h"
#include "base/slot_index.h"
#include "base/types.h"
#include "group/source_table.h"

namespace uroce::group {

enum class AttachResult : uint8_t {
  kAdded,
  kAlready,  // a member already: success, nothing changed
  kFull,     // no room for another group, membership or source; nothing changed
  kMixed,    // a member already, the one by source and the other of every source; nothing changed
};

struct Group {
  Gid mgid{};
  uint32_t member_count = 0;
  uint32_t first = kNoSlot;  // of the memberships, in attach order
  uint32_t last = kNoSlot;
};

struct Membership {
  uint32_t group = kNoSlot;  // slot of the group
  uint32_t member = kNoSlot;
  uint32_t next_in_group = kNoSlot;
  uint32_t previous_in_group = kNoSlot;
  uint32_t next_of_member = kNoSlot;
  uint32_t previous_of_member = kNoSlot;
  SourceList sources{};  // empty: every source
};

struct MembershipLimits {
  uint32_t groups_max = 8192;
  uint32_t memberships_max = 65536;
  uint32_t members_max = 65536;  // members are numbers below this: slots of queue pairs
  uint32_t sources_max = 8192;   // of all memberships together, at least 1
};

// One owner (the engine). Pointers that find(), first() and next() give are good until the next
// attach() or detach().
class MembershipTable {
 public:
  // Allocates everything. `seed` keys the hashes: random in the product, fixed in tests.
  MembershipTable(const MembershipLimits& limits, uint64_t seed);

  // Makes a queue pair a member. The MGID must be valid (group/mgid.h). With kAdded,
  // `*group_is_new` says whether this is the group's first member: open the filter, join.
  AttachResult attach(const Gid& mgid, uint32_t member, bool* group_is_new = nullptr);

  // False, and nothing changed, when the queue pair is no member. With true, `*group_became_empty`
  // says whether it was the last member: the group is gone; close the filter, leave.
  bool detach(const Gid& mgid, uint32_t member, bool* group_became_empty = nullptr);

  // The same for the messages of one source: a queue pair may have several in a group. False: the
  // source is none of its. The last one ends the membership.
  AttachResult attach_source(const Gid& mgid, uint32_t member, const Gid& source);
  bool detach_source(const Gid& mgid, uint32_t member, const Gid& source);

  // Whether a member takes what a source sends; the key is made once for a packet.
  SourceTable::Key source_key(const Gid& source) const { return sources_.key(source); }
  bool admits(const Membership& m, const SourceTable::Key& source) const {
    return m.sources.count == 0 || sources_.find(slot_of(m), source) != kNoSlot;
  }

  // The group, or nullptr when nobody here is attached to it.
  const Group* find(const Gid& mgid) const;

  // The members of a group in attach order: for (m = first(g); m != nullptr; m = next(*m)).
  const Membership* first(const Group& group) const { return membership(group.first); }
  const Membership* next(const Membership& m) const { return membership(m.next_in_group); }

  // How many groups a queue pair is in; destroy refuses while it is not 0 (IBA o10-2.2.3).
  uint32_t memberships_of(uint32_t member) const { return members_[member].count; }
  // The groups of a queue pair, oldest first.
  const Membership* first_of(uint32_t member) const { return membership(members_[member].first); }
  const Membership* next_of(const Membership& m) const { return membership(m.next_of_member); }
  const Gid& mgid_of(const Membership& m) const { return groups_[m.group].mgid; }

  uint32_t group_count() const { return groups_by_mgid_.size(); }
  uint32_t membership_count() const { return pairs_.size(); }

  // All groups in the order of their slots, for display: start with nullptr, ends with nullptr.
  const Group* next_group(const Group* after) const;

 private:
  struct Member {
    uint32_t count = 0;
    uint32_t first = kNoSlot;
    uint32_t last = kNoSlot;
  };

  const Membership* membership(uint32_t slot) const {
    return slot == kNoSlot ? nullptr : &memberships_[slot];
  }
  uint32_t slot_of(const Membership& m) const {
    return static_cast<uint32_t>(&m - memberships_.get());
  }
  uint64_t pair_hash(uint32_t group, uint32_t member) const { return hash_(group, member); }
  uint32_t find_group(const Gid& mgid) const;
  uint32_t find_pair(uint32_t group, uint32_t member) const;
  uint32_t take_group(const Gid& mgid);
  void give_group(uint32_t slot);
  void link(uint32_t slot);
  void unlink(uint32_t slot);

  MembershipLimits limits_;
  KeyedHash hash_;
  SlotIndex groups_by_mgid_;
  SlotIndex pairs_;
  SourceTable sources_;  // owners are memberships
  std::unique_ptr<Group[]> groups_;
  std::unique_ptr<Membership[]> memberships_;
  std::unique_ptr<Member[]> members_;
  uint32_t free_group_ = kNoSlot;       // linked through Group::first
  uint32_t free_membership_ = kNoSlot;  // linked through Membership::next_in_group
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_MEMBERSHIP_H
