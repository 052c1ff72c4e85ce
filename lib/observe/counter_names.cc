// SPDX-License-Identifier: BSD-3-Clause
// Names and explanations of the counters, and their sums. doc/counters.md has the same names.
#include "observe/counter_names.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "nic/queue_counters.h"
#include "wire/drop.h"

namespace uroce::observe {
namespace {

using group::HostCounters;
using neigh::HostStackCounters;
using nic::CounterName;
using transport::TransportCounters;
using worker::LoopCounters;

constexpr CounterName<TransportCounters> kTransport[] = {
    {&TransportCounters::sent_packets, "sent_packets", "RoCE packets given to the port or looped"},
    {&TransportCounters::received_packets, "received_packets", "RoCE packets with a good ICRC"},
    {&TransportCounters::sent_bytes, "sent_bytes", "payload bytes sent"},
    {&TransportCounters::received_bytes, "received_bytes", "payload bytes received"},
    {&TransportCounters::duplicate_request, "duplicate_request",
     "requests behind the expected PSN"},
    {&TransportCounters::out_of_sequence, "out_of_sequence", "NAK 0x60 sent"},
    {&TransportCounters::out_of_order_kept, "out_of_order_kept",
     "early requests kept for their turn"},
    {&TransportCounters::packet_seq_err, "packet_seq_err", "NAK 0x60 received and acted on"},
    {&TransportCounters::implied_nak_seq_err, "implied_nak_seq_err",
     "implied NAK of a READ or atomic"},
    {&TransportCounters::rnr_nak_sent, "rnr_nak_sent", "RNR NAK sent"},
    {&TransportCounters::rnr_nak_received, "rnr_nak_received", "RNR NAK received"},
    {&TransportCounters::rnr_nak_retry_err, "rnr_nak_retry_err", "rnr_retry used up"},
    {&TransportCounters::local_ack_timeout_err, "local_ack_timeout_err",
     "ACK timer fired with requests outstanding"},
    {&TransportCounters::retry_exceeded_err, "retry_exceeded_err", "retry_cnt used up"},
    {&TransportCounters::retransmitted_packets, "retransmitted_packets", "packets sent again"},
    {&TransportCounters::tail_probes, "tail_probes", "probes sent: an answer was overdue"},
    {&TransportCounters::req_remote_access_errors, "req_remote_access_errors", "NAK 0x62 received"},
    {&TransportCounters::req_remote_invalid_request, "req_remote_invalid_request",
     "NAK 0x61 received"},
    {&TransportCounters::req_remote_operational_errors, "req_remote_operational_errors",
     "NAK 0x63 or an unknown NAK received"},
    {&TransportCounters::resp_remote_access_errors, "resp_remote_access_errors", "NAK 0x62 sent"},
    {&TransportCounters::resp_remote_invalid_request, "resp_remote_invalid_request",
     "NAK 0x61 sent"},
    {&TransportCounters::resp_remote_operational_errors, "resp_remote_operational_errors",
     "NAK 0x63 sent"},
    {&TransportCounters::req_cqe_error, "req_cqe_error", "send completions with an error"},
    {&TransportCounters::resp_cqe_error, "resp_cqe_error", "receive completions with an error"},
    {&TransportCounters::req_cqe_flush_error, "req_cqe_flush_error", "send completions flushed"},
    {&TransportCounters::resp_cqe_flush_error, "resp_cqe_flush_error",
     "receive completions flushed"},
    {&TransportCounters::rx_write_requests, "rx_write_requests", "RDMA WRITE messages taken"},
    {&TransportCounters::rx_read_requests, "rx_read_requests", "RDMA READ requests taken"},
    {&TransportCounters::rx_atomic_requests, "rx_atomic_requests",
     "atomics and ATOMIC WRITEs executed"},
    {&TransportCounters::rdma_sends, "rdma_sends", "SEND work requests completed"},
    {&TransportCounters::rdma_recvs, "rdma_recvs", "successful receive completions"},
    {&TransportCounters::multicast_received, "multicast_received",
     "packets to a group with members here"},
    {&TransportCounters::multicast_copies, "multicast_copies", "copies delivered to members"},
    {&TransportCounters::cnp_received, "cnp_received", "congestion notifications for QPs of ours"},
    {&TransportCounters::handed_off, "handed_off", "frames passed to another engine"},
    {&TransportCounters::cq_overrun, "cq_overrun", "completions that found their CQ full"},
    {&TransportCounters::events_lost, "events_lost",
     "failed connections that were not logged, since too many waited"},
    {&TransportCounters::clock_gaps, "clock_gaps", "turns that found a quarter of a timeout gone"},
};
#define UROCE_NAME_ONE(member) #member,
constexpr const char* kDeclared[] = {UROCE_TRANSPORT_COUNTERS(UROCE_NAME_ONE)};
#undef UROCE_NAME_ONE
static_assert(std::size(kTransport) == std::size(kDeclared), "each transport counter has a name");

// Without handoff_full, which is a drop reason, and turn_ns_max, which is no sum.
constexpr CounterName<LoopCounters> kLoop[] = {
    {&LoopCounters::turns, "turns", "loop turns"},
    {&LoopCounters::busy_turns, "busy_turns", "turns that moved a frame"},
    {&LoopCounters::clock_gaps, "clock_gaps", "turns that came so late that ACK timers were moved"},
    {&LoopCounters::busy_bursts, "busy_bursts", "receive bursts that were full"},
};

constexpr CounterName<HostStackCounters> kHostStack[] = {
    {&HostStackCounters::arp_answered, "arp_answered",
     "ARP requests for an address of ours answered"},
    {&HostStackCounters::nd_answered, "nd_answered",
     "neighbour solicitations for an address of ours answered"},
    {&HostStackCounters::echo_answered, "echo_answered", "echo requests answered, ICMP and ICMPv6"},
    {&HostStackCounters::echo_refused, "echo_refused",
     "echo requests refused: too large, too many, or from no unicast address"},
    {&HostStackCounters::replies_dropped, "replies_dropped",
     "ARP and ND replies lost: more requests than the queue holds"},
    {&HostStackCounters::solicitations_sent, "solicitations_sent",
     "ARP requests and neighbour solicitations of ours"},
    {&HostStackCounters::announcements_sent, "announcements_sent",
     "gratuitous ARP and unsolicited advertisements of ours"},
    {&HostStackCounters::address_conflicts, "address_conflicts",
     "another host claims an address of ours"},
    {&HostStackCounters::icmp_packet_too_big, "icmp_packet_too_big",
     "ICMP messages about our flows: packet too big"},
    {&HostStackCounters::icmp_port_unreachable, "icmp_port_unreachable",
     "ICMP messages about our flows: port unreachable"},
    {&HostStackCounters::icmp_other_unreachable, "icmp_other_unreachable",
     "ICMP messages about our flows: every other error"},
};
constexpr CounterName<HostCounters> kIgmp[] = {
    {&HostCounters::queries_received, "igmp_queries_received", "IGMP queries received"},
    {&HostCounters::older_queries_received, "igmp_older_queries_received",
     "of them, those of the versions that report one group each"},
    {&HostCounters::reports_sent, "igmp_reports_sent", "IGMP report frames sent"},
    {&HostCounters::records_sent, "igmp_records_sent", "group records in IGMP reports sent"},
    {&HostCounters::leaves_sent, "igmp_leaves_sent", "IGMP leave frames sent in those versions"},
    {&HostCounters::answers_suppressed, "igmp_answers_suppressed",
     "IGMP answers not sent because another host reported the group"},
};
constexpr CounterName<HostCounters> kMld[] = {
    {&HostCounters::queries_received, "mld_queries_received", "MLD queries received"},
    {&HostCounters::older_queries_received, "mld_older_queries_received",
     "of them, those of the versions that report one group each"},
    {&HostCounters::reports_sent, "mld_reports_sent", "MLD report frames sent"},
    {&HostCounters::records_sent, "mld_records_sent", "group records in MLD reports sent"},
    {&HostCounters::leaves_sent, "mld_leaves_sent", "MLD leave frames sent in those versions"},
    {&HostCounters::answers_suppressed, "mld_answers_suppressed",
     "MLD answers not sent because another host reported the group"},
};

template <typename Counters>
uint64_t sum(const std::vector<const Counters*>& of, Counter Counters::*member) {
  uint64_t total = 0;
  for (const Counters* counters : of) total += (counters->*member).value();
  return total;
}

template <typename Counters, size_t N>
void append(std::vector<NamedCounter>& list, CounterGroup group,
            const CounterName<Counters> (&names)[N], const std::vector<const Counters*>& of) {
  for (const CounterName<Counters>& name : names) {
    list.push_back({group, name.name, name.meaning, sum(of, name.member)});
  }
}

bool is_drop_reason(const char* name) {
  for (size_t i = 1; i < wire::kDropCount; ++i) {
    if (std::strcmp(name, wire::drop_name(static_cast<wire::Drop>(i))) == 0) return true;
  }
  return false;
}

// What the queue and the loop refuse before an engine sees it, under the engine's names.
uint64_t dropped_before(const CounterSources& sources, wire::Drop reason) {
  switch (reason) {
    case wire::Drop::kEmptyFrame:
      return sum(sources.queues, &nic::QueueCounters::rx_empty_frame);
    case wire::Drop::kOwnSourceMac:
      return sum(sources.queues, &nic::QueueCounters::rx_own_source_mac);
    case wire::Drop::kHandoffFull:
      return sum(sources.loops, &LoopCounters::handoff_full);
    default:
      return 0;
  }
}

void append_drops(std::vector<NamedCounter>& list, const CounterSources& sources) {
  for (size_t i = 1; i < wire::kDropCount; ++i) {
    const auto reason = static_cast<wire::Drop>(i);
    uint64_t value = dropped_before(sources, reason);
    for (const transport::DropCounters* drops : sources.drops) value += drops->by_reason[i].value();
    list.push_back(
        {CounterGroup::kDrop, wire::drop_name(reason), wire::drop_explanation(reason), value});
  }
}

void append_port(std::vector<NamedCounter>& list, const CounterSources& sources) {
  for (const CounterName<nic::QueueCounters>& name : nic::kQueueCounterNames) {
    if (is_drop_reason(name.name)) continue;
    list.push_back(
        {CounterGroup::kPort, name.name, name.meaning, sum(sources.queues, name.member)});
  }
  append(list, CounterGroup::kPort, nic::kFaultCounterNames, sources.faults);
}

void append_loop(std::vector<NamedCounter>& list, const CounterSources& sources) {
  append(list, CounterGroup::kLoop, kLoop, sources.loops);
  uint64_t longest = 0;
  for (const LoopCounters* loop : sources.loops) {
    longest = std::max(longest, loop->turn_ns_max.value());
  }
  list.push_back({CounterGroup::kLoop, "turn_ns_max",
                  "longest time between the starts of two turns, ns", longest});
}

template <typename Counters>
std::vector<const Counters*> at_most_one(const Counters* counters) {
  return counters == nullptr ? std::vector<const Counters*>{} : std::vector{counters};
}

}  // namespace

std::vector<NamedCounter> list_counters(const CounterSources& sources) {
  std::vector<NamedCounter> list;
  append(list, CounterGroup::kTransport, kTransport, sources.transport);
  append_drops(list, sources);
  append_port(list, sources);
  append_loop(list, sources);
  append(list, CounterGroup::kHost, kHostStack, at_most_one(sources.host_stack));
  append(list, CounterGroup::kHost, kIgmp, at_most_one(sources.igmp));
  append(list, CounterGroup::kHost, kMld, at_most_one(sources.mld));
  return list;
}

}  // namespace uroce::observe
