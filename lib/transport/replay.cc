// SPDX-License-Identifier: BSD-3-Clause
// Answering duplicates without executing them (IBA C9-105).
//
// SEND or WRITE with PSN d: an ACK, asked for or not. Its PSN is the newest that was executed, but
// stops before the oldest READ or atomic behind d: the peer may still wait for its response, and an
// ACK at or past it would tell the peer that the response was lost.
//
// READ with PSN d: a slot is looked for whose PSNs include d, with the same R_Key and an address
// range that includes what is asked. Found: answered like a new READ of that length (FIRST, MIDDLE,
// LAST), from memory as it is now; where the first answer is still under way it goes on from there.
// The slot keeps the whole READ. Not found, or the key is dead, now or when the answer is to leave:
// dropped, for whoever had the first answer may have taken the key back.
//
// Atomic, ATOMIC WRITE or FLUSH with PSN d: a slot is looked for with the same PSN, operation,
// address and R_Key. Found: the answer that was given then is given again (of an atomic the value
// that it found), whatever the word holds now and whether the key still lives. Not found: dropped.
#include "transport/replay.h"

#include <algorithm>

#include "transport/response_queue.h"

namespace uroce::transport {
namespace {

constexpr uint32_t kQuarterOfPsns = 1u << 22;

// None where nothing is answered (UC).
std::span<ReplaySlot> slots(const QpContext& qp) {
  return {qp.queues->replay, qp.queues->replay == nullptr ? 0 : kReadAtomicMax};
}

// The PSN of the ACK for a duplicate SEND or WRITE.
Psn acknowledge_up_to(const QpContext& qp, Psn duplicate) {
  Psn newest = qp.resp.expected_psn - 1;
  for (const ReplaySlot& slot : slots(qp)) {
    if (slot.packet_count == 0 || !slot.first_psn.after(duplicate)) continue;
    if (!slot.first_psn.after(newest)) newest = slot.first_psn - 1;
  }
  return newest;
}

// The READ that a duplicate asks for again, or a part of it; nullptr: none.
const ReplaySlot* find_read(const QpContext& qp, Psn psn, const wire::Reth& reth) {
  for (const ReplaySlot& slot : slots(qp)) {
    const uint32_t packet = (psn.value() - slot.first_psn.value()) & Psn::kMask;
    if (packet >= slot.packet_count || reth.rkey.value() != slot.rkey) continue;
    if (!wire::opcode_info(slot.opcode).has(wire::kRead)) continue;
    const uint64_t offset = reth.address - slot.address;
    const bool inside = offset <= slot.length && reth.length_bytes <= slot.length - offset;
    const uint32_t asked = read_response_packets(reth.length_bytes, qp.mtu_bytes);
    if (inside && asked <= slot.packet_count - packet) return &slot;
  }
  return nullptr;
}

// What an atomic, ATOMIC WRITE or FLUSH names.
struct Target {
  uint64_t address;
  uint32_t rkey;
};
Target target_of(const wire::ParsedFrame& frame) {
  if (frame.info->has(wire::kAtomicOp)) {
    const wire::AtomicEth atomic = frame.atomic();
    return {atomic.address, atomic.rkey.value()};
  }
  const wire::Reth reth = frame.reth();
  return {reth.address, reth.rkey.value()};
}

void receive_duplicate_operation(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  const Target target = target_of(frame);
  for (const ReplaySlot& slot : slots(qp)) {
    if (slot.packet_count == 0 || slot.first_psn != frame.psn || slot.opcode != frame.opcode ||
        slot.address != target.address || slot.rkey != target.rkey) {
      continue;
    }
    if (!room_for_read_again(qp)) return env.drops->count(wire::Drop::kReplayFull);
    return owe_operation(qp, frame.psn, frame.opcode, slot.original);
  }
  env.drops->count(wire::Drop::kDuplicate);  // of what is no longer known, or never was executed
}

// A READ that was answered once may find that its key has gone since: no reason to fail the queue
// pair.
bool still_readable(const QpContext& qp, const TransportEnv& env, const wire::Reth& reth,
                    uint32_t pd) {
  uint8_t* from = nullptr;
  return reth.length_bytes == 0 ||
         env.keys->translate_remote(reth.rkey, pd, qp.qpn, memory::kRemoteRead, reth.address,
                                    reth.length_bytes, from) == memory::KeyVerdict::kGood;
}

void receive_duplicate_read(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  const wire::Reth reth = frame.reth();
  const ReplaySlot* const slot = find_read(qp, frame.psn, reth);
  if (slot == nullptr || frame.payload_length != 0) {
    return env.drops->count(wire::Drop::kDuplicate);
  }
  if (!still_readable(qp, env, reth, slot->pd) ||
      read_goes_on(qp, frame.psn, reth.address, reth.length_bytes, reth.rkey.value())) {
    return env.drops->count(wire::Drop::kDuplicate);
  }
  if (!room_for_read_again(qp)) return env.drops->count(wire::Drop::kReplayFull);
  owe_read_again(qp, frame.psn, reth.address, reth.length_bytes, reth.rkey.value(), slot->pd);
}

void remember(QpContext& qp, const ReplaySlot& taken) {
  const uint32_t ring = std::min<uint32_t>(qp.attributes.dest_rd_atomic_max, kReadAtomicMax);
  uint32_t& next = qp.resp.replay_next;
  if (next >= ring) next = 0;
  qp.queues->replay[next++] = taken;
}

}  // namespace

void remember_read(QpContext& qp, Psn first, uint32_t packet_count, const wire::Reth& reth) {
  // Before a jump of that size, so that no slot's age passes the whole PSN space.
  if (packet_count > kQuarterOfPsns) forget_old_reads(qp);
  remember(qp, {.first_psn = first,
                .packet_count = packet_count,
                .address = reth.address,
                .length = reth.length_bytes,
                .rkey = reth.rkey.value(),
                .pd = qp.pd});
}

void remember_operation(QpContext& qp, const wire::ParsedFrame& frame, uint64_t original) {
  const Target target = target_of(frame);
  remember(qp, {.first_psn = frame.psn,
                .packet_count = 1,
                .address = target.address,
                .rkey = target.rkey,
                .pd = qp.pd,
                .original = original,
                .opcode = frame.opcode});
}

void remember_flush(QpContext& qp) {
  const FlushInProgress& flush = qp.resp.flush;
  remember(qp, {.first_psn = qp.resp.expected_psn,
                .packet_count = 1,
                .address = flush.address,
                .rkey = flush.rkey,
                .pd = qp.pd,
                .opcode = flush.opcode});
}

void forget_old_reads(QpContext& qp) {
  for (ReplaySlot& slot : slots(qp)) {
    const uint32_t age = (qp.resp.expected_psn.value() - slot.first_psn.value()) & Psn::kMask;
    // A READ of 2^23 packets may be that old when it is taken; then the next call forgets it.
    if (age > 2 * kQuarterOfPsns) slot.packet_count = 0;
  }
}

void receive_duplicate(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  ++env.counters->duplicate_request;
  if (frame.info->has(wire::kSend | wire::kWrite)) {
    env.drops->count(wire::Drop::kDuplicate);
    owe_acknowledge_again(qp, acknowledge_up_to(qp, frame.psn));
  } else if (frame.info->has(wire::kRead)) {
    receive_duplicate_read(qp, env, frame);
  } else {
    receive_duplicate_operation(qp, env, frame);
  }
}

}  // namespace uroce::transport
