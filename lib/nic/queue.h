// SPDX-License-Identifier: BSD-3-Clause
// The hot path of one queue of one port: bursts in and out, between mbufs and frames.
//
// One thread at a time uses a Queue: the holder of the engine's seat. Nothing here allocates, locks
// or makes a system call of ours (net_af_packet makes one per transmit burst, that is its nature).
// A Token is an mbuf: it may be handed to another engine with add_reference, and whoever got it
// gives it back with drop_reference.
#ifndef UROCE_NIC_QUEUE_H
#define UROCE_NIC_QUEUE_H

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/counter.h"
#include "base/types.h"
#include "nic/device_clock.h"
#include "wire/frame.h"

struct rte_mbuf;
struct rte_mempool;

namespace uroce::nic {

class FaultStage;
struct FaultCounters;

inline constexpr uint32_t kBurst = 32;           // frames per receive burst, slots per lend
inline constexpr uint32_t kLocalCapacity = 256;  // frames waiting on the local route

// One writer, the queue's thread; any thread may read. Names for display: queue_counters.h.
struct QueueCounters {
  Counter rx_frames;          // taken from the port, before any drop of this list
  Counter rx_bytes;           // of rx_frames, Ethernet header included, FCS not
  Counter rx_local;           // frames that came back by the local route
  Counter rx_linearized;      // chains that were copied into one segment
  Counter rx_linearize_drop;  // chains dropped: no mbuf free, or longer than the port's frames
  Counter rx_own_source_mac;  // our own or the kernel's sending, seen again: dropped
  Counter rx_empty_frame;     // no bytes, or the meaningless ones of net_null: dropped
  Counter tx_frames;          // taken by the port
  Counter tx_bytes;           // of tx_frames
  Counter tx_local;           // put on the local route
  Counter tx_short_bursts;    // the port took less than it was given: back-pressure
  Counter tx_local_full;      // no slots lent: the local route is full
  Counter tx_no_mbuf;         // fewer slots lent: the pool was empty
  Counter tx_too_long;        // longer than the link takes since its MTU went down: dropped
  Counter tx_link_down;       // left over by a port that has no link: dropped
  Counter tx_stalled;         // left over by a port that takes nothing for long: dropped
};

// Where a port that stamps what it receives leaves the stamp, and what it means.
struct StampSource {
  const DeviceClock* clock = nullptr;  // nullptr: the port does not stamp
  int field_offset = 0;                // in the mbuf: the stamp, uint64_t
  uint64_t flag = 0;                   // in ol_flags: there is one
};

// What Port knows of the queue when it makes it.
struct QueueSettings {
  uint16_t port_id = 0;
  uint16_t queue_id = 0;
  rte_mempool* pool = nullptr;       // transmit slots and linearised frames come from here
  uint32_t frame_bytes_max = 0;      // largest frame, VLAN tag included
  bool ignore_udp_checksum = false;  // the port cannot tell unfinished from wrong (af_packet)
  bool drop_everything = false;      // net_null: what it receives means nothing
  bool drop_own_mac = false;         // the port also shows what its own host sends
  MacAddress mac{};
  StampSource stamps{};
};

class Queue {
 public:
  explicit Queue(const QueueSettings& settings);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Fills the front of `out` and returns how many: frames of the local route first (at most half
  // of `out`), then one burst of the port. out.size() >= kBurst. Each frame must go back by
  // release, or, one by one, by drop_reference.
  uint32_t receive(Time now, std::span<RxFrame> out);
  void release(std::span<const RxFrame> frames);

  // Up to kBurst empty slots; none while blocked(). The same slots come again until they are used.
  std::span<TxSlot> lend();
  // The first `filled` of the lent slots are frames now, 0 < length <= capacity each.
  void submit(uint32_t filled);
  // Frames are left over that the port, or the local route, has no room for yet. After flush (the
  // wire) or receive (local) ask again. Nothing is lent meanwhile.
  bool blocked() const { return pending_count_ != 0 || local_count_ > kLocalCapacity - kBurst; }
  void flush();

  // The longest frame that the link takes, VLAN tag included; longer ones are dropped when they are
  // submitted. Any thread.
  void set_tx_bytes_max(uint32_t bytes) { tx_bytes_max_.store(bytes, std::memory_order_relaxed); }

  // A port without a link may take nothing. What it leaves over is dropped then, so that time goes
  // on for who waits for an answer. Any thread.
  void set_link_up(bool up) { link_up_.store(up, std::memory_order_relaxed); }

  // A port that has taken nothing between kStuckLooksMax calls and the one before, though it was
  // offered frames each time, stands still: the process behind a memif is stopped, say. What it
  // leaves over is dropped, too, until it takes a frame again. One control thread, ten times a
  // second: who only waits for a CPU is back before that.
  static constexpr uint32_t kStuckLooksMax = 10;
  void look_at_progress();

  // Lets go of every mbuf that it holds: lent slots, pending and local frames, and what the port
  // has ready (bounded). After the last use of the queue, before the port stops.
  void drain();

  // Any thread that holds a reference of its own. drop_reference may free the mbuf.
  static void add_reference(Token token);
  static void drop_reference(Token token);
  // The frame behind a token of another queue; checksum verdicts and `looped` as they were there.
  static RxFrame frame_of(Token token, ReceiveTime arrival);

  // Frames suffer as the stage says; nullptr: as they are. Before the first receive.
  void set_faults(std::unique_ptr<FaultStage> faults);

  const QueueCounters& counters() const { return counters_; }
  const FaultCounters* fault_counters() const;  // nullptr: no faults
  uint16_t id() const { return settings_.queue_id; }

 private:
  uint32_t take_local(Time now, std::span<RxFrame> out);
  uint32_t take_burst(Time now, std::span<RxFrame> out);
  bool fill_slots(uint32_t begin, uint32_t end);
  rte_mbuf* linearized(rte_mbuf* chain);
  void take_stamps(Time now, std::span<RxFrame> frames);
  bool unwanted(const rte_mbuf* frame);
  uint32_t transmit(rte_mbuf** frames, uint32_t count, uint64_t bytes);
  void push_local(rte_mbuf* frame);
  void drop_pending();

  const QueueSettings settings_;
  QueueCounters counters_;
  std::unique_ptr<FaultStage> faults_;
  ClockLine clock_line_;  // of settings_.stamps.clock, as it was last read
  std::atomic<uint32_t> tx_bytes_max_{UINT32_MAX};
  std::atomic<bool> link_up_{true};
  std::atomic<bool> stands_still_{false};
  Counter refusals_;                  // bursts of which the port took nothing
  uint64_t frames_at_last_look_ = 0;  // look_at_progress() only
  uint64_t refusals_at_last_look_ = 0;
  uint32_t stuck_looks_ = 0;
  // Slots [0, first_lent_) are used up, the rest up to lent_count_ hold an empty mbuf each.
  std::array<TxSlot, kBurst> slots_;
  uint32_t first_lent_ = 0;
  uint32_t lent_count_ = 0;
  // Left over from a short burst: pending_[pending_first_ ... + pending_count_).
  std::array<rte_mbuf*, kBurst> pending_{};
  uint32_t pending_first_ = 0;
  uint32_t pending_count_ = 0;
  std::array<rte_mbuf*, kLocalCapacity> local_{};
  uint32_t local_first_ = 0;
  uint32_t local_count_ = 0;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_QUEUE_H
