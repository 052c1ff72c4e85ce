// SPDX-License-Identifier: BSD-3-Clause
// When a host tells the routers which groups it listens to: the part of IGMPv3 (RFC 3376, 5) and
// MLDv2 (RFC 3810, 6) that is the same for both. What goes around it is in group_host.
//
// Each group that is joined, or left and not yet fully reported, has an entry with two deadlines:
// of its next change report and of its answer to a query for it. A change (join or leave) is
// reported at once and, because a frame may get lost, again after random delays of at most one
// second (robustness 2: once); a host that is about to go has less time, and repeats its leaves
// within a tenth of it. A later change starts these reports anew with the new record. A
// query for one group sets the entry's answer to a random time within the time that the querier
// allows; a general query sets one answer for all groups, which walks over the entries. An answer
// that is due within that time anyway stays as it is: later queries neither put it off nor draw
// again, so a flood of queries costs no more than one answer in its time. A group that is left
// before any report named it was never there: it goes without a report.
//
// Records that leave in one frame get one common delay for their repetition, so a burst of joins
// is a burst of full frames again.
//
// Queriers of older versions (RFC 2236, RFC 2710) get a frame for each group. There the answer to a
// general query is spread: the walk takes the querier's time, one entry after the other at an even
// pace, and a query meanwhile makes another walk behind it. Who hears another host report a group
// keeps its own answer for that group to itself.
#ifndef UROCE_GROUP_REPORT_SCHEDULE_H
#define UROCE_GROUP_REPORT_SCHEDULE_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/counter.h"
#include "base/due_heap.h"
#include "base/keyed_hash.h"
#include "base/random.h"
#include "base/slot_index.h"
#include "base/types.h"
#include "wire/membership.h"

namespace uroce::group {

class ReportSchedule {
 public:
  static constexpr uint8_t kRobustness = 2;
  static constexpr Duration kRepeatWithin = std::chrono::seconds(1);
  static constexpr Duration kHurriedRepeatWithin = std::chrono::milliseconds(100);
  // How a general query is answered: all groups at one time, or evenly over the querier's time.
  enum class Answer : uint8_t { kAtOnce, kSpread };
  // A querier that allows less gets its answer within this: bounds what a flood of queries costs.
  static constexpr Duration kResponseWithinMin = std::chrono::milliseconds(10);

  // At most `groups_max` groups are joined at a time. `seed` for delays and the hash key.
  ReportSchedule(uint32_t groups_max, uint64_t seed);

  // The first local member came, or the last one went. True when the table has room; false from
  // leave() for a group that is not joined. Both change nothing the second time.
  bool join(Time now, const Gid& group);
  bool leave(Time now, const Gid& group);
  // Every joined group is reported as if it were joined now.
  void reannounce(Time now);

  // How often a change is reported, 1 … 7, and within which time joins are reported again; leaves
  // always within kRepeatWithin, or hurried. For reports from now on.
  void set_robustness(uint8_t robustness) { robustness_ = robustness; }
  void set_join_repeat_within(Duration within) { join_repeat_within_ = within; }

  // From now on leaves are repeated within kHurriedRepeatWithin, those under way as well; or not.
  void hurry_leaves(Time now, bool hurry);

  void handle_general_query(Time now, Duration response_within, Answer answer = Answer::kAtOnce);
  void handle_group_query(Time now, const Gid& group, Duration response_within);

  // Another host reported the group. True when an answer of ours became needless.
  bool suppress_answer(const Gid& group);
  // Nobody waits for answers any more.
  void cancel_answers();

  // Fills `out` with records that are due, and takes them as sent. 0: nothing is due.
  uint32_t take_due(Time now, std::span<wire::GroupRecord> out);
  // When take_due() has something next, or kNever.
  Time poll_timeout() const;

  bool is_joined(const Gid& group) const;
  uint32_t joined_count() const { return joined_count_; }
  // Groups that were left and are still to be reported, or reported again. Any thread.
  uint32_t leaving_count() const { return leaving_count_.load(std::memory_order_relaxed); }
  // Leaves whose repetition was given up to make room.
  uint64_t leaves_cut_short() const { return leaves_cut_short_.value(); }

 private:
  enum class State : uint8_t { kFree, kJoined, kLeaving };
  struct Entry {
    Gid group{};
    State state = State::kFree;
    bool announced = false;    // some report has named the group as joined
    bool suppressed = false;   // the walk passes it by
    uint8_t changes_left = 0;  // change reports still to be sent
    Time change_due = kNever;
    Time response_due = kNever;
    uint32_t next_free = kNoSlot;
  };

  uint32_t find(const Gid& group) const;
  uint32_t take_slot();
  void free_slot(uint32_t slot);
  void start_change(Time now, uint32_t slot, State state);
  void set_state(Entry& entry, State state);
  void update_due(uint32_t slot);
  // When the changes of one frame are reported again.
  struct Repeat {
    Time join;
    Time leave;
  };
  wire::GroupRecord take_entry(Time now, uint32_t slot, const Repeat& repeat);
  bool walking() const { return walk_due_ != kNever; }
  uint32_t take_general(Time now, std::span<wire::GroupRecord> out);

  uint32_t groups_max_;
  uint32_t slots_;
  uint32_t joined_count_ = 0;
  std::atomic<uint32_t> leaving_count_{0};  // one writer
  uint32_t free_ = kNoSlot;
  uint32_t evict_from_ = 0;
  Random random_;
  KeyedHash hash_;
  SlotIndex index_;
  DueHeap due_;
  std::unique_ptr<Entry[]> entries_;
  uint8_t robustness_ = kRobustness;
  Duration join_repeat_within_ = kRepeatWithin;
  Duration leave_repeat_within_ = kRepeatWithin;
  Time general_due_ = kNever;  // when the next walk starts,
  Duration general_step_{};    // and its time from one record to the next
  Time walk_due_ = kNever;     // when the walk that is under way has its next record
  Duration walk_step_{};
  uint32_t walk_at_ = 0;
  Counter leaves_cut_short_;
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_REPORT_SCHEDULE_H
