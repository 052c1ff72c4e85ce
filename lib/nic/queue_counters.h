// SPDX-License-Identifier: BSD-3-Clause
// Names and meanings of a queue's counters, for display.
#ifndef UROCE_NIC_QUEUE_COUNTERS_H
#define UROCE_NIC_QUEUE_COUNTERS_H

#include <span>

#include "nic/fault_stage.h"
#include "nic/queue.h"

namespace uroce::nic {

template <typename Counters>
struct CounterName {
  Counter Counters::*member;
  const char* name;
  const char* meaning;
};

inline constexpr CounterName<QueueCounters> kQueueCounterNames[] = {
    {&QueueCounters::rx_frames, "rx_frames", "frames that the port gave, dropped ones too"},
    {&QueueCounters::rx_bytes, "rx_bytes", "bytes of the frames received"},
    {&QueueCounters::rx_local, "rx_local", "frames that came back on the local route"},
    {&QueueCounters::rx_linearized, "rx_linearized", "chained frames copied into one segment"},
    {&QueueCounters::rx_linearize_drop, "rx_linearize_drop",
     "chained frames dropped: too long, or no mbuf free"},
    {&QueueCounters::rx_own_source_mac, "own_source_mac",
     "frames dropped: this host sent them itself"},
    {&QueueCounters::rx_empty_frame, "empty_frame", "frames dropped: no content"},
    {&QueueCounters::tx_frames, "tx_frames", "frames that the port took"},
    {&QueueCounters::tx_bytes, "tx_bytes", "bytes of the frames sent"},
    {&QueueCounters::tx_local, "tx_local", "frames put on the local route"},
    {&QueueCounters::tx_short_bursts, "tx_short_bursts",
     "bursts of which the port took only a part: sending waited"},
    {&QueueCounters::tx_local_full, "tx_local_full", "turns without sending: local route full"},
    {&QueueCounters::tx_no_mbuf, "tx_no_mbuf", "turns with less sending: no mbuf free"},
    {&QueueCounters::tx_too_long, "tx_too_long",
     "frames dropped: longer than the interface's MTU now allows"},
    {&QueueCounters::tx_link_down, "tx_link_down", "frames dropped: the port has no link"},
    {&QueueCounters::tx_stalled, "tx_stalled", "frames dropped: the port took none for long"},
};

inline constexpr CounterName<FaultCounters> kFaultCounterNames[] = {
    {&FaultCounters::lost, "fault_lost", "received frames lost on purpose"},
    {&FaultCounters::duplicated, "fault_duplicated", "received frames doubled on purpose"},
    {&FaultCounters::reordered, "fault_reordered", "received frames held back on purpose"},
    {&FaultCounters::corrupted, "fault_corrupted", "received frames with a bit flipped on purpose"},
    {&FaultCounters::overflow, "fault_overflow", "frames lost: too many held back at once"},
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_QUEUE_COUNTERS_H
