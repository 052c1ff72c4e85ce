// SPDX-License-Identifier: BSD-3-Clause
// Tests of the list of counters: complete, named once, summed right.
#include "observe/counter_names.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace uroce::observe {
namespace {

struct TwoEngines {
  transport::TransportCounters transport[2];
  transport::DropCounters drops[2];
  nic::QueueCounters queues[2];
  nic::FaultCounters faults[2];
  worker::LoopCounters loops[2];
  neigh::HostStackCounters host_stack;
  group::HostCounters igmp;
  group::HostCounters mld;

  CounterSources sources() const {
    return {{&transport[0], &transport[1]},
            {&drops[0], &drops[1]},
            {&queues[0], &queues[1]},
            {&faults[0], &faults[1]},
            {&loops[0], &loops[1]},
            &host_stack,
            &igmp,
            &mld};
  }
  uint64_t value(CounterGroup group, const std::string& name) const {
    for (const NamedCounter& counter : list_counters(sources())) {
      if (counter.group == group && counter.name == name) return counter.value;
    }
    ADD_FAILURE() << "no counter " << name;
    return 0;
  }
};

TEST(CounterNames, each_name_stands_once_in_its_group_and_has_an_explanation) {
  const TwoEngines engines;
  std::set<std::pair<CounterGroup, std::string>> names;
  for (const NamedCounter& counter : list_counters(engines.sources())) {
    EXPECT_TRUE(names.emplace(counter.group, counter.name).second) << counter.name;
    EXPECT_GT(std::string(counter.help).size(), 4u) << counter.name;
    EXPECT_EQ(counter.value, 0u) << counter.name;
  }
}

TEST(CounterNames, every_transport_counter_is_listed_under_the_name_of_its_member) {
  TwoEngines engines;
  uint64_t n = 0;
#define UROCE_SET(member) engines.transport[0].member.add(++n);
  UROCE_TRANSPORT_COUNTERS(UROCE_SET)
#undef UROCE_SET
  n = 0;
#define UROCE_SEE(member) EXPECT_EQ(engines.value(CounterGroup::kTransport, #member), ++n);
  UROCE_TRANSPORT_COUNTERS(UROCE_SEE)
#undef UROCE_SEE
}

TEST(CounterNames, a_device_shows_the_sum_over_its_engines) {
  TwoEngines engines;
  engines.transport[0].sent_packets.add(3);
  engines.transport[1].sent_packets.add(4);
  engines.queues[0].rx_frames.add(5);
  engines.queues[1].rx_frames.add(6);
  engines.faults[1].lost.add(2);
  engines.loops[0].turns.add(10);
  engines.loops[1].turns.add(20);
  EXPECT_EQ(engines.value(CounterGroup::kTransport, "sent_packets"), 7u);
  EXPECT_EQ(engines.value(CounterGroup::kPort, "rx_frames"), 11u);
  EXPECT_EQ(engines.value(CounterGroup::kPort, "fault_lost"), 2u);
  EXPECT_EQ(engines.value(CounterGroup::kLoop, "turns"), 30u);
}

TEST(CounterNames, the_longest_turn_is_the_longest_not_the_sum) {
  TwoEngines engines;
  engines.loops[0].turn_ns_max.add(70);
  engines.loops[1].turn_ns_max.add(50);
  EXPECT_EQ(engines.value(CounterGroup::kLoop, "turn_ns_max"), 70u);
}

TEST(CounterNames, a_reason_counts_the_frames_of_queue_loop_and_engine) {
  TwoEngines engines;
  engines.drops[1].count(wire::Drop::kIcrc);
  engines.drops[0].count(wire::Drop::kOwnSourceMac);
  engines.queues[0].rx_own_source_mac.add(2);
  engines.queues[1].rx_empty_frame.add(3);
  engines.loops[0].handoff_full.add(4);
  EXPECT_EQ(engines.value(CounterGroup::kDrop, "icrc"), 1u);
  EXPECT_EQ(engines.value(CounterGroup::kDrop, "own_source_mac"), 3u);
  EXPECT_EQ(engines.value(CounterGroup::kDrop, "empty_frame"), 3u);
  EXPECT_EQ(engines.value(CounterGroup::kDrop, "handoff_full"), 4u);
}

TEST(CounterNames, every_drop_reason_is_listed) {
  const TwoEngines engines;
  size_t drops = 0;
  for (const NamedCounter& counter : list_counters(engines.sources())) {
    drops += counter.group == CounterGroup::kDrop;
  }
  EXPECT_EQ(drops, wire::kDropCount - 1);
}

TEST(CounterNames, a_shared_port_lists_the_host_counters_as_zero) {
  TwoEngines engines;
  engines.igmp.reports_sent.add(1);
  EXPECT_EQ(engines.value(CounterGroup::kHost, "igmp_reports_sent"), 1u);
  CounterSources shared = engines.sources();
  shared.host_stack = nullptr;
  shared.igmp = shared.mld = nullptr;
  EXPECT_EQ(list_counters(shared).size(), list_counters(engines.sources()).size());
}

}  // namespace
}  // namespace uroce::observe
