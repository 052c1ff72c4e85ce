// SPDX-License-Identifier: BSD-3-Clause
// Keeping early packets.
//
// A packet ahead of the expected PSN is copied as it came, ICRC verified, and nothing else happens:
// it is judged, executed and completed when every packet before it has been, exactly as if it
// arrived then. A packet is found through a hash of QPN and PSN with chained buckets: a queue pair
// has nothing of its own but a count, and the engine's memory is bounded whatever its number of
// queue pairs.
//
// Copies and not references: a copy costs a fraction of a microsecond and happens under loss only;
// references would tie up receive buffers of the port, which every driver of the engine would have
// to account for and to give back.
#include "transport/reorder.h"

#include <bit>
#include <cstring>

#include "base/assert.h"

namespace uroce::transport {

using wire::Drop;

ReorderBuffer::ReorderBuffer(uint32_t packets_max)
    : packets_max_(packets_max),
      bucket_mask_(std::bit_ceil(packets_max) - 1),
      free_count_(packets_max),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(size_t{packets_max} * kFrameBytesMax)),
      packets_(std::make_unique<Packet[]>(packets_max)),
      buckets_(std::make_unique_for_overwrite<uint16_t[]>(size_t{bucket_mask_} + 1)) {
  UROCE_ASSERT(packets_max > 0 && packets_max <= 32768);
  for (uint32_t i = 0; i <= bucket_mask_; ++i) buckets_[i] = kNone;
  for (uint32_t i = 0; i < packets_max; ++i) {
    packets_[i].next = i + 1 < packets_max ? static_cast<uint16_t>(i + 1) : kNone;
  }
}

uint32_t ReorderBuffer::bucket_of(Qpn qpn, Psn psn) const {
  // Neighbouring PSNs of one queue pair fall into neighbouring buckets.
  return (qpn.value() * 0x9E3779B1u + psn.value()) & bucket_mask_;
}

ReorderBuffer::Kept ReorderBuffer::keep(Qpn qpn, const wire::ParsedFrame& frame,
                                        ReceiveTime arrival) {
  uint16_t& bucket = buckets_[bucket_of(qpn, frame.psn)];
  for (uint16_t at = bucket; at != kNone; at = packets_[at].next) {
    if (packets_[at].frame.psn == frame.psn && packets_[at].qpn == qpn) return Kept::kAlready;
  }
  const size_t length = size_t{frame.l3_offset} + frame.ip_length;
  if (free_head_ == kNone || length > kFrameBytesMax) return Kept::kFull;
  const uint16_t slot = free_head_;
  Packet& packet = packets_[slot];
  free_head_ = packet.next;
  --free_count_;
  std::byte* bytes = &bytes_[size_t{slot} * kFrameBytesMax];
  std::memcpy(bytes, frame.frame, length);
  const auto* copy = reinterpret_cast<const uint8_t*>(bytes);
  packet.frame = frame;
  packet.frame.frame = copy;
  packet.frame.bth = copy + (frame.bth - frame.frame);
  packet.frame.payload = copy + (frame.payload - frame.frame);
  packet.arrival = arrival;
  packet.qpn = qpn;
  packet.next = bucket;
  bucket = slot;
  return Kept::kYes;
}

ReorderBuffer::Packet* ReorderBuffer::take(Qpn qpn, Psn psn) {
  uint16_t* link = &buckets_[bucket_of(qpn, psn)];
  for (; *link != kNone; link = &packets_[*link].next) {
    Packet& packet = packets_[*link];
    if (packet.frame.psn != psn || packet.qpn != qpn) continue;
    *link = packet.next;
    return &packet;
  }
  return nullptr;
}

void ReorderBuffer::give_back(Packet& packet) {
  packet.next = free_head_;
  free_head_ = static_cast<uint16_t>(&packet - packets_.get());
  ++free_count_;
}

template <typename Forget>
uint32_t ReorderBuffer::forget_if(Qpn qpn, Forget&& forget) {
  uint32_t forgotten = 0;
  for (uint32_t i = 0; i <= bucket_mask_; ++i) {
    for (uint16_t* link = &buckets_[i]; *link != kNone;) {
      Packet& packet = packets_[*link];
      if (packet.qpn != qpn || !forget(packet.frame.psn)) {
        link = &packet.next;
        continue;
      }
      *link = packet.next;
      give_back(packet);
      ++forgotten;
    }
  }
  return forgotten;
}

uint32_t ReorderBuffer::forget_passed(Qpn qpn, Psn expected) {
  return forget_if(qpn, [expected](Psn psn) { return psn.before(expected); });
}

uint32_t ReorderBuffer::forget_all(Qpn qpn) {
  return forget_if(qpn, [](Psn) { return true; });
}

void keep_early(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame,
                ReceiveTime arrival) {
  ResponderState& resp = qp.resp;
  const auto ahead = static_cast<uint32_t>(frame.psn.distance_from(resp.expected_psn));
  if (env.reorder == nullptr || ahead > kKeptAheadMax) return env.drops->count(Drop::kOutOfOrder);
  if (resp.kept_count >= kKeptPerQpMax) return env.drops->count(Drop::kReorderFull);
  switch (env.reorder->keep(qp.qpn, frame, arrival)) {
    case ReorderBuffer::Kept::kYes:
      ++resp.kept_count;
      ++env.counters->out_of_order_kept;
      return;
    case ReorderBuffer::Kept::kAlready:
      return env.drops->count(Drop::kDuplicate);
    case ReorderBuffer::Kept::kFull:
      return env.drops->count(Drop::kReorderFull);
  }
}

ReorderBuffer::Packet* take_kept(QpContext& qp, TransportEnv& env) {
  if (qp.resp.kept_count == 0) return nullptr;
  ReorderBuffer::Packet* packet = env.reorder->take(qp.qpn, qp.resp.expected_psn);
  if (packet != nullptr) --qp.resp.kept_count;
  return packet;
}

void forget_kept(QpContext& qp, TransportEnv& env) {
  if (qp.resp.kept_count == 0) return;
  env.reorder->forget_all(qp.qpn);
  qp.resp.kept_count = 0;
}

void forget_passed(QpContext& qp, TransportEnv& env) {
  if (qp.resp.kept_count == 0) return;
  const uint32_t passed = env.reorder->forget_passed(qp.qpn, qp.resp.expected_psn);
  qp.resp.kept_count = static_cast<uint16_t>(qp.resp.kept_count - passed);
  for (uint32_t i = 0; i < passed; ++i) env.drops->count(Drop::kDuplicate);
}

}  // namespace uroce::transport
