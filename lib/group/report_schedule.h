// SPDX-License-Identifier: BSD-3-Clause
// When a host tells the routers what it listens to: the part of IGMPv3 (RFC 3376, 5) and MLDv2 (RFC
// 3810, 6) that is the same for both. What goes around it is in group_host.
//
// Each group that is joined, or left and not yet fully reported, has an entry: its source filter
// and two deadlines, of its next change report and of its answer to a query for it. A change of the
// filter is reported at once and, because a frame may get lost, again after random delays of at
// most one second (robustness 2: once); a host that is about to go has less time, and repeats its
// leaves within a tenth of it. A later change starts these reports anew. What they say follows from
// the filter as it is when they go: after a change of its mode the whole filter, else the sources
// that came and those that went (RFC 3376 5.1). A query for one group sets the entry's answer to a
// random time within the time that the querier allows; a general query sets one answer for all
// groups, which walks over the entries. An answer that is due within that time anyway stays as it
// is: later queries neither put it off nor draw again, so a flood of queries costs no more than one
// answer in its time. A group, or a source, that goes before any report named it was never there:
// it goes without a report.
//
// Records that leave in one frame get one common delay for their repetition, so a burst of joins is
// a burst of full frames again. One entry at a time is being reported: where its sources fill the
// frame the rest goes into the next one.
//
// Queriers of older versions (RFC 2236, RFC 2710) get a frame for each group and know no sources:
// who wants some has joined, and a change of sources is none. There the answer to a general query
// is spread: the walk takes the querier's time, one entry after the other at an even pace, and a
// query meanwhile makes another walk behind it. Who hears another host report a group keeps its own
// answer for that group to itself.
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
#include "base/source_filter.h"
#include "base/types.h"
#include "group/record_room.h"
#include "group/source_table.h"
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

  // At most `groups_max` groups are joined at a time, with at most `sources_max` sources (at least
  // 1) in their filters together. `seed` for delays and the hash keys.
  ReportSchedule(uint32_t groups_max, uint32_t sources_max, uint64_t seed);

  // What the host listens to in a group from now on. False: no room, nothing changed.
  bool set_filter(Time now, const Gid& group, const SourceFilter& filter);
  // The same from every source, and from none: false from leave() for a group that is not joined.
  bool join(Time now, const Gid& group) { return set_filter(now, group, kEverySource); }
  bool leave(Time now, const Gid& group) {
    return is_joined(group) && set_filter(now, group, kNoSource);
  }
  // Every joined group is reported as if it were joined now.
  void reannounce(Time now);

  // How often a change is reported, 1 … 7, and within which time joins are reported again; leaves
  // always within kRepeatWithin, or hurried. For reports from now on.
  void set_robustness(uint8_t robustness) { robustness_ = robustness; }
  void set_join_repeat_within(Duration within) { join_repeat_within_ = within; }
  // Whether reports have records with sources, or name one group each.
  void set_by_records(bool by_records);

  // From now on leaves are repeated within kHurriedRepeatWithin, those under way as well; or not.
  void hurry_leaves(Time now, bool hurry);

  void handle_general_query(Time now, Duration response_within, Answer answer = Answer::kAtOnce);
  // `sources`: those that are asked for, as they lie on the wire; none: all.
  void handle_group_query(Time now, const Gid& group, Duration response_within,
                          std::span<const uint8_t> sources = {});

  // Another host reported the group. True when an answer of ours became needless.
  bool suppress_answer(const Gid& group);
  // Nobody waits for answers any more.
  void cancel_answers();

  // Puts records that are due into an empty room, and takes them as sent. False: nothing is due.
  // Not by records: one, without sources; kChangeToInclude is a leave.
  bool take_due(Time now, RecordRoom& room);
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
    FilterMode mode = FilterMode::kInclude;
    bool announced = false;     // some report has named the group as joined
    bool suppressed = false;    // the walk passes it by
    bool asked = false;         // the answer that is due is for sources that were asked for only
    uint8_t changes_left = 0;   // change reports still to be sent,
    uint8_t modes_left = 0;     // of them, those that name the mode and the whole filter,
    uint8_t members_left = 0;   // and those that older queriers need
    uint32_t wanted_count = 0;  // sources of the filter; the list has others that are to be told
    SourceList sources;
    Time change_due = kNever;
    Time response_due = kNever;
    uint32_t next_free = kNoSlot;
  };
  // What is to be told of a source, under its number in `sources_`.
  struct SourceReport {
    bool wanted = false;       // in the filter
    bool announced = false;    // some report has named it as such
    bool asked = false;        // by a query that is not answered yet
    uint8_t changes_left = 0;  // change reports still to name it
    uint32_t round = 0;        // the change of a filter that named it last
  };
  // Why an entry is reported, and which of its sources a record names, under which type.
  enum class Cause : uint8_t { kNone, kChange, kAnswer, kWalk };
  enum class Pass : uint8_t { kMode, kAllow, kBlock, kCurrent, kAsked, kGroup };
  // The entry that is being reported. Its deadline stays until the report is whole, so whoever
  // gives a report up has it made anew.
  struct Emission {
    Cause cause = Cause::kNone;
    Pass pass = Pass::kMode;
    uint32_t slot = kNoSlot;
    uint32_t source = kNoSlot;  // the next to look at
    bool opened = false;        // the pass has put a record into some room
  };
  // When the changes of one frame are reported again.
  struct Repeat {
    Time join;
    Time leave;
  };

  uint32_t find(const Gid& group) const;
  uint32_t take_slot();
  void free_slot(uint32_t slot);
  void change(Time now, uint32_t slot, const SourceFilter& filter);
  void start_change(Time now, uint32_t slot);
  void set_state(Entry& entry, State state);
  void update_due(uint32_t slot);

  uint32_t put_source(uint32_t slot, const Gid& source);
  bool put_sources(uint32_t slot, std::span<const Gid> sources);
  void free_source(uint32_t source);
  void free_sources(Entry& entry);
  void evict_source();
  bool ask_for(uint32_t slot, std::span<const uint8_t> sources);

  void begin(uint32_t slot, Cause cause);
  bool begin_general(Time now);
  void give_up_emission(uint32_t slot);
  bool is_named(const Entry& entry, const SourceReport& report) const;
  wire::RecordType record_type(const Entry& entry) const;
  bool emit(RecordRoom& room);
  bool emit_pass(const Entry& entry, RecordRoom& room);
  void finish(const Repeat& repeat);
  void finish_change(Entry& entry, const Repeat& repeat);
  void settle_sources(Entry& entry);
  bool walking() const { return walk_due_ != kNever; }

  uint32_t groups_max_;
  uint32_t sources_max_;
  uint32_t slots_;
  uint32_t joined_count_ = 0;
  uint32_t wanted_count_ = 0;               // of all entries
  std::atomic<uint32_t> leaving_count_{0};  // one writer
  uint32_t free_ = kNoSlot;
  uint32_t evict_from_ = 0;
  uint32_t evict_source_from_ = 0;
  uint32_t round_ = 0;
  Random random_;
  KeyedHash hash_;
  SlotIndex index_;
  DueHeap due_;
  std::unique_ptr<Entry[]> entries_;
  uint32_t source_slots_;
  SourceTable sources_;  // owners are slots
  std::unique_ptr<SourceReport[]> reports_;
  Emission emission_;
  bool by_records_ = true;
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
