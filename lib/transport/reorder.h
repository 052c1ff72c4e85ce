// SPDX-License-Identifier: BSD-3-Clause
// Request packets that came too early, kept until it is their turn.
#ifndef UROCE_TRANSPORT_REORDER_H
#define UROCE_TRANSPORT_REORDER_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::transport {

// Packets that one queue pair may have kept, and how far ahead of the expected PSN they may lie.
// The second bound is about packets of the queue pair's former life, which would wait for a turn
// that is not theirs.
inline constexpr uint32_t kKeptPerQpMax = 512;
inline constexpr uint32_t kKeptAheadMax = 1024;

// The kept packets of all queue pairs of an engine: copies in slots of one block, found by QPN and
// PSN. All memory is allocated by the constructor; it is not touched before it is used.
class ReorderBuffer {
 public:
  // Holds the largest RC request: path MTU 4096, every header.
  static constexpr uint32_t kFrameBytesMax = 4224;

  struct Packet {
    wire::ParsedFrame frame;  // points into the slot
    ReceiveTime arrival;
    Qpn qpn;
    uint16_t next;  // in the bucket, or on the free list
  };

  // 0 < `packets_max` <= 32768.
  explicit ReorderBuffer(uint32_t packets_max);

  enum class Kept : uint8_t { kYes, kAlready, kFull };
  // Copies the frame. kFull: no slot is free, or the frame is longer than a slot.
  Kept keep(Qpn qpn, const wire::ParsedFrame& frame, ReceiveTime arrival);

  // Takes a packet out; nullptr: not there. It stays readable until give_back.
  Packet* take(Qpn qpn, Psn psn);
  void give_back(Packet& packet);

  // Forgets the packets of `qpn` whose PSN lies behind `expected`, or all of them. Returns how
  // many. Looks at every slot.
  uint32_t forget_passed(Qpn qpn, Psn expected);
  uint32_t forget_all(Qpn qpn);

  uint32_t packets_max() const { return packets_max_; }
  uint32_t free_count() const { return free_count_; }

 private:
  static constexpr uint16_t kNone = 0xFFFF;

  uint32_t bucket_of(Qpn qpn, Psn psn) const;
  template <typename Forget>
  uint32_t forget_if(Qpn qpn, Forget&& forget);

  const uint32_t packets_max_;
  uint32_t bucket_mask_;
  uint32_t free_count_;
  uint16_t free_head_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
  std::unique_ptr<Packet[]> packets_;
  std::unique_ptr<uint16_t[]> buckets_;
};

// Keeps a packet ahead of the expected PSN, or drops it by name.
void keep_early(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame,
                ReceiveTime arrival);

// Takes out the kept packet that is expected next; nullptr: none. The caller gives it back.
ReorderBuffer::Packet* take_kept(QpContext& qp, TransportEnv& env);

// Forgets what the queue pair has kept: all of it, or what the expected PSN has jumped over.
void forget_kept(QpContext& qp, TransportEnv& env);
void forget_passed(QpContext& qp, TransportEnv& env);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_REORDER_H
