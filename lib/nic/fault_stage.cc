// SPDX-License-Identifier: BSD-3-Clause
// Faults on received frames.
//
// Every frame takes the same number of draws, whatever becomes of it, so that the fate of frame n
// depends on the seed and on n alone. What survives goes through one list in order of arrival; a
// turn lets out, in that order, each frame whose delay is over. A reordered frame stays until some
// later ones have passed it.
#include "nic/fault_stage.h"

#include <rte_mbuf.h>

namespace uroce::nic {
namespace {

constexpr Duration kReorderPatience = std::chrono::microseconds(200);
constexpr uint32_t kEthernetHeaderBytes = 14;

}  // namespace

FaultStage::FaultStage(const FaultPlan& plan, rte_mempool* pool)
    : plan_(plan), pool_(pool), random_state_(plan.seed) {}

FaultStage::~FaultStage() {
  for (uint32_t i = 0; i < held_count_; ++i) rte_pktmbuf_free(held_[i].frame);
}

// A counter through a mixing function (the finalizer of MurmurHash3, 64 bits): any seed is good.
uint64_t FaultStage::random() {
  uint64_t x = random_state_ += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53;
  return x ^ (x >> 33);
}

bool FaultStage::chance(double probability) {
  return static_cast<double>(random() >> 11) * 0x1p-53 < probability;
}

uint32_t FaultStage::apply(Time now, std::array<rte_mbuf*, 32>& burst, uint32_t count,
                           uint32_t room) {
  for (uint32_t i = 0; i < count; ++i) take(now, burst[i]);
  uint32_t out = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < held_count_; ++i) {
    const Held& held = held_[i];
    const bool ready = now >= held.due && (came_out_ >= held.behind || now >= held.patience);
    if (ready && out < room) {
      burst[out++] = held.frame;
      ++came_out_;
    } else {
      held_[kept++] = held;
    }
  }
  held_count_ = kept;
  return out;
}

void FaultStage::take(Time now, rte_mbuf* frame) {
  const bool lost = chance(plan_.loss);
  const bool doubled = chance(plan_.duplicate);
  const bool late = chance(plan_.reorder);
  const bool flipped = chance(plan_.corrupt);
  const uint64_t where = random();
  if (lost) {
    ++counters_.lost;
    rte_pktmbuf_free(frame);
    return;
  }
  if (flipped) frame = corrupted(frame, where >> 2);
  Held held{.frame = frame, .due = now + plan_.delay, .behind = 0, .patience = now};
  if (late) {
    held.behind = came_out_ + held_count_ + 1 + (where & 3);
    held.patience = held.due + kReorderPatience;
    ++counters_.reordered;
  }
  if (doubled) {
    rte_pktmbuf_refcnt_update(frame, 1);
    ++counters_.duplicated;
    hold({.frame = frame, .due = now + plan_.delay, .behind = 0, .patience = now});
  }
  hold(held);
}

void FaultStage::hold(const Held& held) {
  if (held_count_ == kFaultHeldMax) {
    ++counters_.overflow;
    rte_pktmbuf_free(held.frame);
    return;
  }
  held_[held_count_++] = held;
}

rte_mbuf* FaultStage::corrupted(rte_mbuf* frame, uint64_t where) {
  if (rte_mbuf_refcnt_read(frame) != 1) {
    rte_mbuf* copy = rte_pktmbuf_copy(frame, pool_, 0, UINT32_MAX);
    if (copy == nullptr) return frame;
    rte_pktmbuf_free(frame);
    frame = copy;
  }
  if (frame->data_len <= kEthernetHeaderBytes) return frame;
  const uint64_t bit = where % (uint64_t{frame->data_len - kEthernetHeaderBytes} * 8);
  auto* bytes = rte_pktmbuf_mtod_offset(frame, uint8_t*, kEthernetHeaderBytes);
  bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
  ++counters_.corrupted;
  return frame;
}

}  // namespace uroce::nic
