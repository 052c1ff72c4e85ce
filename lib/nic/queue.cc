// SPDX-License-Identifier: BSD-3-Clause
// The hot path of one queue: receive bursts, lent transmit slots, the local route.
//
// A token is the mbuf's address with two marks in its low bits, which the alignment leaves free:
// they say what cannot be read from an mbuf that two owners share (a frame on both routes is on
// the wire and looped at once).
#include "nic/queue.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "nic/fault_stage.h"

namespace uroce::nic {
namespace {

constexpr uint64_t kLoopedMark = 1;     // came by the local route
constexpr uint64_t kIgnoreUdpMark = 2;  // ChecksumVerdict::kIgnore
constexpr uint64_t kMarks = kLoopedMark | kIgnoreUdpMark;

Token token_of(const rte_mbuf* mbuf, uint64_t marks) {
  return Token{reinterpret_cast<uint64_t>(mbuf) | marks};
}

rte_mbuf* mbuf_of(Token token) {
  return reinterpret_cast<rte_mbuf*>(static_cast<uint64_t>(token) & ~kMarks);
}

ChecksumVerdict verdict(uint64_t flags, uint64_t good, uint64_t bad) {
  const uint64_t both = flags & (good | bad);
  // Both set means "not there, and that is well" (RX_*_CKSUM_NONE): left to the software check.
  if (both == good) return ChecksumVerdict::kGood;
  if (both == bad) return ChecksumVerdict::kBad;
  return ChecksumVerdict::kUnknown;
}

// The mbuf's checksum and VLAN marks; most frames of most ports have none.
constexpr uint64_t kTellingFlags =
    RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK;

// Field by field into place: a frame that is put together elsewhere and copied costs more than all
// the rest of the receive path.
void describe(RxFrame& frame, const rte_mbuf* mbuf, uint64_t marks, Time now) {
  frame.bytes = rte_pktmbuf_mtod(mbuf, const uint8_t*);
  frame.length = rte_pktmbuf_data_len(mbuf);
  frame.vlan_tci = 0;
  frame.vlan_stripped = false;
  frame.ip_checksum = ChecksumVerdict::kUnknown;
  frame.udp_checksum = ChecksumVerdict::kUnknown;
  frame.icrc_good = false;
  frame.looped = false;
  frame.stamped = false;
  frame.token = token_of(mbuf, marks);
  frame.arrival = now;
  const uint64_t flags = mbuf->ol_flags;
  if (((flags & kTellingFlags) | marks) == 0) return;
  if ((marks & kLoopedMark) != 0) {
    // Never left this host's memory: what the core wrote is what the core reads.
    frame.looped = true;
    frame.ip_checksum = frame.udp_checksum = ChecksumVerdict::kGood;
    return;
  }
  frame.vlan_stripped = (flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0;
  if (frame.vlan_stripped) frame.vlan_tci = mbuf->vlan_tci;
  frame.ip_checksum = verdict(flags, RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_IP_CKSUM_BAD);
  frame.udp_checksum = (marks & kIgnoreUdpMark) != 0 ? ChecksumVerdict::kIgnore
                                                     : verdict(flags, RTE_MBUF_F_RX_L4_CKSUM_GOOD,
                                                               RTE_MBUF_F_RX_L4_CKSUM_BAD);
}

}  // namespace

Queue::Queue(const QueueSettings& settings) : settings_(settings) {}

Queue::~Queue() = default;

uint32_t Queue::receive(Time now, std::span<RxFrame> out) {
  UROCE_ASSERT(out.size() >= kBurst);
  uint32_t count = 0;
  if (local_count_ != 0) count = take_local(now, out.first(out.size() / 2));
  return count + take_burst(now, out.subspan(count));
}

uint32_t Queue::take_local(Time now, std::span<RxFrame> out) {
  const uint32_t count = std::min(local_count_, static_cast<uint32_t>(out.size()));
  for (uint32_t i = 0; i < count; ++i) {
    describe(out[i], local_[local_first_], kLoopedMark, now);
    local_first_ = (local_first_ + 1) % kLocalCapacity;
  }
  local_count_ -= count;
  counters_.rx_local.add(count);
  return count;
}

uint32_t Queue::take_burst(Time now, std::span<RxFrame> out) {
  std::array<rte_mbuf*, kBurst> burst;
  const auto room = static_cast<uint16_t>(std::min<size_t>(kBurst, out.size()));
  uint32_t taken = rte_eth_rx_burst(settings_.port_id, settings_.queue_id, burst.data(), room);
  if (taken != 0) counters_.rx_frames.add(taken);
  if (faults_ != nullptr) [[unlikely]]
    taken = faults_->apply(now, burst, taken, room);
  if (taken == 0) return 0;
  if (settings_.drop_everything) [[unlikely]] {
    counters_.rx_empty_frame.add(taken);
    rte_pktmbuf_free_bulk(burst.data(), taken);
    return 0;
  }
  for (uint32_t i = 0; i < taken; ++i) rte_prefetch0(rte_pktmbuf_mtod(burst[i], void*));
  const uint64_t marks = settings_.ignore_udp_checksum ? kIgnoreUdpMark : 0;
  uint64_t bytes = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < taken; ++i) {
    rte_mbuf* mbuf = burst[i];
    bytes += mbuf->pkt_len;
    if (mbuf->nb_segs != 1) [[unlikely]] {
      mbuf = linearized(mbuf);
      if (mbuf == nullptr) continue;
    }
    if (mbuf->data_len == 0 || settings_.drop_own_mac) [[unlikely]] {
      if (unwanted(mbuf)) {
        rte_pktmbuf_free(mbuf);
        continue;
      }
    }
    describe(out[count++], mbuf, marks, now);
  }
  counters_.rx_bytes.add(bytes);
  if (settings_.stamps.clock != nullptr) [[unlikely]]
    take_stamps(now, out.first(count));
  return count;
}

// The port's time in place of the burst's, where it gave one. The reading of its clock is not
// exact, and nothing arrives after it was taken.
void Queue::take_stamps(Time now, std::span<RxFrame> frames) {
  const StampSource& stamps = settings_.stamps;
  stamps.clock->read(clock_line_);
  if (!clock_line_.known()) return;
  for (RxFrame& frame : frames) {
    const rte_mbuf* mbuf = mbuf_of(frame.token);
    if ((mbuf->ol_flags & stamps.flag) == 0) continue;
    const uint64_t stamp = *RTE_MBUF_DYNFIELD(mbuf, stamps.field_offset, const uint64_t*);
    frame.arrival = std::min(clock_line_.time_of(stamp), now);
    frame.stamped = true;
  }
}

// A copy in one segment; the chain is freed. nullptr: dropped and counted.
rte_mbuf* Queue::linearized(rte_mbuf* chain) {
  rte_mbuf* copy = nullptr;
  if (chain->pkt_len <= settings_.frame_bytes_max) {
    copy = rte_pktmbuf_copy(chain, settings_.pool, 0, UINT32_MAX);
  }
  rte_pktmbuf_free(chain);
  if (copy == nullptr) {
    ++counters_.rx_linearize_drop;
    return nullptr;
  }
  UROCE_ASSERT(copy->nb_segs == 1);
  ++counters_.rx_linearized;
  return copy;
}

bool Queue::unwanted(const rte_mbuf* frame) {
  if (frame->data_len == 0) {
    ++counters_.rx_empty_frame;
    return true;
  }
  if (settings_.drop_own_mac && frame->data_len >= 12 &&
      std::memcmp(rte_pktmbuf_mtod(frame, const uint8_t*) + 6, settings_.mac.bytes.data(), 6) ==
          0) {
    ++counters_.rx_own_source_mac;
    return true;
  }
  return false;
}

// Nearly every mbuf is held by nobody else and comes from the same pool as its neighbours: these go
// back together.
void Queue::release(std::span<const RxFrame> frames) {
  std::array<void*, kBurst> free;
  unsigned count = 0;
  rte_mempool* pool = settings_.pool;
  for (const RxFrame& frame : frames) {
    rte_mbuf* mbuf = rte_pktmbuf_prefree_seg(mbuf_of(frame.token));
    if (mbuf == nullptr) continue;
    if (mbuf->pool != pool || count == free.size()) [[unlikely]] {
      if (count != 0) rte_mempool_put_bulk(pool, free.data(), count);
      count = 0;
      pool = mbuf->pool;
    }
    free[count++] = mbuf;
  }
  if (count != 0) rte_mempool_put_bulk(pool, free.data(), count);
}

// Used slots are the first ones, so a refill touches only what was used; unused ones stay as they
// are, whatever their number.
std::span<TxSlot> Queue::lend() {
  if (blocked()) {
    if (pending_count_ == 0) ++counters_.tx_local_full;
    return {};
  }
  if (first_lent_ != 0) {
    if (fill_slots(0, first_lent_)) {
      first_lent_ = 0;
    } else {  // the pool is empty: what is left moves to the front
      std::move(slots_.begin() + first_lent_, slots_.begin() + lent_count_, slots_.begin());
      lent_count_ -= first_lent_;
      first_lent_ = 0;
      return {slots_.data(), lent_count_};
    }
  }
  if (lent_count_ != kBurst && fill_slots(lent_count_, kBurst)) lent_count_ = kBurst;
  return {slots_.data(), lent_count_};
}

// An empty mbuf for each slot of [begin, end), or for none.
bool Queue::fill_slots(uint32_t begin, uint32_t end) {
  std::array<rte_mbuf*, kBurst> fresh;
  if (rte_pktmbuf_alloc_bulk(settings_.pool, fresh.data(), end - begin) != 0) {
    ++counters_.tx_no_mbuf;
    return false;
  }
  for (uint32_t i = begin; i < end; ++i) {
    rte_mbuf* mbuf = fresh[i - begin];
    const uint32_t room = rte_pktmbuf_tailroom(mbuf);
    TxSlot& slot = slots_[i];
    slot.room = rte_pktmbuf_mtod(mbuf, uint8_t*);
    slot.capacity = std::min(room, settings_.frame_bytes_max);
    slot.token = token_of(mbuf, 0);
    slot.length = 0;
    slot.route = Route::kWire;
  }
  return true;
}

void Queue::submit(uint32_t filled) {
  UROCE_ASSERT(first_lent_ == 0 && filled <= lent_count_);
  std::array<rte_mbuf*, kBurst> wire;
  uint32_t wire_count = 0;
  uint64_t wire_bytes = 0;
  const uint32_t tx_bytes_max = tx_bytes_max_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < filled; ++i) {
    const TxSlot& slot = slots_[i];
    UROCE_ASSERT(slot.length != 0 && slot.length <= slot.capacity);
    rte_mbuf* mbuf = mbuf_of(slot.token);
    mbuf->data_len = static_cast<uint16_t>(slot.length);
    mbuf->pkt_len = slot.length;
    if (slot.route != Route::kWire) [[unlikely]] {
      if (slot.route == Route::kBoth) rte_mbuf_refcnt_update(mbuf, 1);
      push_local(mbuf);
      if (slot.route == Route::kLocal) continue;
    }
    // A port may choke on it for good: the ring of net_af_packet stops at such a frame.
    if (slot.length > tx_bytes_max) [[unlikely]] {
      ++counters_.tx_too_long;
      rte_pktmbuf_free(mbuf);
      continue;
    }
    wire[wire_count++] = mbuf;
    wire_bytes += slot.length;
  }
  first_lent_ = filled;
  if (first_lent_ == lent_count_) first_lent_ = lent_count_ = 0;
  if (wire_count == 0) return;
  const uint32_t sent = transmit(wire.data(), wire_count, wire_bytes);
  if (sent == wire_count) [[likely]]
    return;
  ++counters_.tx_short_bursts;
  pending_first_ = 0;
  pending_count_ = wire_count - sent;
  std::copy(wire.begin() + sent, wire.begin() + wire_count, pending_.begin());
}

void Queue::push_local(rte_mbuf* frame) {
  UROCE_ASSERT(local_count_ < kLocalCapacity);  // lend saw room for a whole burst
  local_[(local_first_ + local_count_) % kLocalCapacity] = frame;
  ++local_count_;
  ++counters_.tx_local;
}

// Returns how many the port took. The rest is still ours, so its lengths may be read afterwards.
uint32_t Queue::transmit(rte_mbuf** frames, uint32_t count, uint64_t bytes) {
  const uint32_t sent =
      rte_eth_tx_burst(settings_.port_id, settings_.queue_id, frames, static_cast<uint16_t>(count));
  for (uint32_t i = sent; i < count; ++i) bytes -= frames[i]->pkt_len;
  counters_.tx_frames.add(sent);
  counters_.tx_bytes.add(bytes);
  if (sent == 0) [[unlikely]] {
    ++refusals_;
    return 0;
  }
  // The port knows before those who look at it now and then.
  if (!link_up_.load(std::memory_order_relaxed)) [[unlikely]]
    set_link_up(true);
  if (stands_still_.load(std::memory_order_relaxed)) [[unlikely]]
    stands_still_.store(false, std::memory_order_relaxed);
  return sent;
}

void Queue::look_at_progress() {
  const uint64_t frames = counters_.tx_frames.value();
  const uint64_t refusals = refusals_.value();
  const bool stuck = frames == frames_at_last_look_ && refusals != refusals_at_last_look_;
  stuck_looks_ = stuck ? stuck_looks_ + 1 : 0;
  if (stuck_looks_ == kStuckLooksMax) stands_still_.store(true, std::memory_order_relaxed);
  frames_at_last_look_ = frames;
  refusals_at_last_look_ = refusals;
}

void Queue::flush() {
  if (pending_count_ == 0) return;
  rte_mbuf** frames = pending_.data() + pending_first_;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < pending_count_; ++i) bytes += frames[i]->pkt_len;
  const uint32_t sent = transmit(frames, pending_count_, bytes);
  pending_first_ += sent;
  pending_count_ -= sent;
  if (pending_count_ == 0) return;
  if (!link_up_.load(std::memory_order_relaxed)) {
    counters_.tx_link_down.add(pending_count_);
    drop_pending();
  } else if (stands_still_.load(std::memory_order_relaxed)) {
    counters_.tx_stalled.add(pending_count_);
    drop_pending();
  }
}

void Queue::drop_pending() {
  rte_pktmbuf_free_bulk(pending_.data() + pending_first_, pending_count_);
  pending_count_ = 0;
}

void Queue::drain() {
  drop_pending();
  for (uint32_t i = first_lent_; i < lent_count_; ++i) rte_pktmbuf_free(mbuf_of(slots_[i].token));
  first_lent_ = lent_count_ = 0;
  while (local_count_ != 0) {
    rte_pktmbuf_free(local_[local_first_]);
    local_first_ = (local_first_ + 1) % kLocalCapacity;
    --local_count_;
  }
  faults_.reset();
  if (settings_.drop_everything) return;  // never runs dry
  std::array<rte_mbuf*, kBurst> burst;
  for (int round = 0; round < 256; ++round) {
    const uint16_t taken =
        rte_eth_rx_burst(settings_.port_id, settings_.queue_id, burst.data(), kBurst);
    if (taken == 0) break;
    rte_pktmbuf_free_bulk(burst.data(), taken);
  }
}

void Queue::add_reference(Token token) { rte_mbuf_refcnt_update(mbuf_of(token), 1); }

void Queue::drop_reference(Token token) { rte_pktmbuf_free(mbuf_of(token)); }

RxFrame Queue::frame_of(Token token, ReceiveTime arrival) {
  RxFrame frame;
  describe(frame, mbuf_of(token), static_cast<uint64_t>(token) & kMarks, arrival.at);
  frame.stamped = arrival.hardware;
  return frame;
}

void Queue::set_faults(std::unique_ptr<FaultStage> faults) { faults_ = std::move(faults); }

const FaultCounters* Queue::fault_counters() const {
  return faults_ == nullptr ? nullptr : &faults_->counters();
}

}  // namespace uroce::nic
