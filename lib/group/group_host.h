// SPDX-License-Identifier: BSD-3-Clause
// The host side of IGMP and MLD: tells routers and snooping switches which groups we listen to.
//
// What both protocols do is here and in report_schedule; what an instance speaks is data: its wire
// form, which igmp_host and mld_host give.
//
// Call order, by one owner: join, leave, link_up and handle_frame may change what poll_frame gives;
// poll_frame until it is false, again when poll_timeout has passed. Nothing is allocated after
// construction. On a shared port the kernel does all this and no host exists.
#ifndef UROCE_GROUP_GROUP_HOST_H
#define UROCE_GROUP_GROUP_HOST_H

#include <cstdint>
#include <memory>
#include <span>

#include "base/source_filter.h"
#include "group/host_config.h"
#include "group/querier_version.h"
#include "group/report_schedule.h"
#include "wire/drop.h"
#include "wire/frame.h"
#include "wire/membership.h"
#include "wire/parse.h"

namespace uroce::group {

// How one of the two protocols looks on the wire, and what it has to do with.
struct WireForm {
  uint8_t record_version;     // the version that reports by records, the newest
  uint8_t leave_version_min;  // the versions below have no message for a leave
  uint32_t header_bytes;      // of such a report before its records, IP header included
  uint32_t record_bytes;      // of the shortest record
  bool (*is_group)(const Gid& group);
  // False: a group that is never reported.
  bool (*is_reported)(const Gid& group);
  wire::Drop (*parse)(std::span<const uint8_t> frame, const wire::L3Info& info,
                      const wire::ParseOptions& options, wire::MembershipMessage& out);
  // Returns the length of the frame, or 0 when the room is too small.
  uint32_t (*build)(std::span<uint8_t> room, const wire::LinkSource& link, const Gid& source,
                    const wire::MembershipMessage& message,
                    std::span<const wire::GroupRecord> records);
};

class GroupHost {
 public:
  // `form` must outlive the host.
  GroupHost(const WireForm& form, const HostConfig& config);

  // The source address of reports from now on; zero: none.
  void set_address(const Gid& address) { config_.address = address; }

  // What this host listens to in a group from now on: the device merges the filters of its members,
  // the last of which leaves kNoSource. Groups without reports are taken in silence. False: no
  // room, nothing changed.
  bool set_filter(Time now, const Gid& group, const SourceFilter& filter);
  // From every source, and from none.
  bool join(Time now, const Gid& group) { return set_filter(now, group, kEverySource); }
  bool leave(Time now, const Gid& group) { return set_filter(now, group, kNoSource); }
  // See report_schedule.h.
  void hurry_leaves(Time now, bool hurry) { schedule_.hurry_leaves(now, hurry); }
  uint32_t leaving_count() const { return schedule_.leaving_count(); }
  // The link came up, perhaps to another switch: all groups are reported again.
  void link_up(Time now) { schedule_.reannounce(now); }

  // A frame of the protocol, as classify() found it. Queries are answered after a random delay
  // within the time that they allow, in the version of the oldest querier that was heard lately;
  // where that has no records, a filter of some sources counts as a join from every source, and the
  // reports of others spare us ours. A frame that is refused is for the caller to count.
  wire::Drop handle_frame(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
                          const wire::ParseOptions& options);
  // Fills the slot with a report when one is due; false: nothing is due. A slot must hold at least
  // 256 bytes.
  bool poll_frame(Time now, TxSlot& slot);
  // When poll_frame has something next, or kNever.
  Time poll_timeout() const { return schedule_.poll_timeout(); }

  bool is_joined(const Gid& group) const { return schedule_.is_joined(group); }
  // The version of reports now.
  uint8_t version(Time now) const { return querier_.at(now); }
  const HostCounters& counters() const { return counters_; }

 private:
  bool is_reported(const Gid& group) const;
  void follow_version(Time now);
  void speak(uint8_t version);
  bool by_records() const { return version_ == form_.record_version; }
  void handle_query(Time now, const wire::MembershipMessage& query);
  bool poll_records(Time now, TxSlot& slot);
  bool poll_single(Time now, TxSlot& slot);
  void build(wire::MembershipMessage message, std::span<const wire::GroupRecord> records,
             TxSlot& slot) const;
  uint32_t bytes_for_records(uint32_t capacity) const;

  const WireForm& form_;
  HostConfig config_;
  QuerierVersion querier_;
  uint8_t version_;  // in use
  ReportSchedule schedule_;
  // Of one report, the largest there can be.
  uint32_t record_bytes_max_;
  std::unique_ptr<wire::GroupRecord[]> records_;
  std::unique_ptr<uint8_t[]> addresses_;
  HostCounters counters_;
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_GROUP_HOST_H
