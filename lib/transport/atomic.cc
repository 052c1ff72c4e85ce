// SPDX-License-Identifier: BSD-3-Clause
// Atomics at the responder.
//
// The operands are numbers on the wire, the word a 64-bit number in this host's order; an ATOMIC
// WRITE brings eight bytes as they are. Memory order: what the same queue pair wrote before is seen
// by whoever sees the new value, as after a release.
#include "transport/atomic.h"

#include <atomic>

#include "base/bytes.h"
#include "transport/response_queue.h"
#include "wire/headers.h"

namespace uroce::transport {
namespace {

using wire::ParsedFrame;

constexpr uint32_t kWordBytes = 8;
static_assert(std::atomic_ref<uint64_t>::is_always_lock_free);

struct Target {
  uint64_t address;
  Key rkey;
};

// What the headers say of the length; the payload of an ATOMIC WRITE is looked at behind the key.
bool length_fits(const ParsedFrame& frame, bool is_write) {
  return is_write ? frame.reth().length_bytes == kWordBytes : frame.payload_length == 0;
}

Target target_of(const ParsedFrame& frame, bool is_write) {
  if (is_write) return {frame.reth().address, frame.reth().rkey};
  const wire::AtomicEth atomic = frame.atomic();
  return {atomic.address, atomic.rkey};
}

}  // namespace

Plan judge_atomic(const QpContext& qp, const TransportEnv& env, const ParsedFrame& frame) {
  const QpAttributes& attributes = qp.attributes;
  const bool is_write = frame.info->has(wire::kAtomicWriteOp);
  const uint32_t right = is_write ? memory::kRemoteWrite : memory::kRemoteAtomic;
  if ((attributes.access & right) == 0) return {Verdict::kInvalidRequest};
  if (attributes.dest_rd_atomic_max == 0 || !room_for_read(qp)) return {Verdict::kInvalidRequest};
  if (!length_fits(frame, is_write)) return {Verdict::kInvalidRequest};
  const Target target = target_of(frame, is_write);
  Plan plan{Verdict::kTake};
  if (env.keys->translate_remote(target.rkey, qp.pd, qp.qpn, right, target.address, kWordBytes,
                                 plan.to) != memory::KeyVerdict::kGood) {
    return {Verdict::kAccess};
  }
  // IBA oA19-28: eight bytes and no pad, which eight bytes never need.
  if (is_write && frame.payload_length != kWordBytes) return {Verdict::kInvalidRequest};
  // Where the word lies in memory counts too: a region may begin at an odd address.
  const bool aligned =
      target.address % kWordBytes == 0 && reinterpret_cast<uintptr_t>(plan.to) % kWordBytes == 0;
  return aligned ? plan : Plan{Verdict::kInvalidRequest};
}

uint64_t execute_atomic(const ParsedFrame& frame, uint8_t* word) {
  const std::atomic_ref<uint64_t> value(*reinterpret_cast<uint64_t*>(word));
  if (frame.info->has(wire::kAtomicWriteOp)) {
    value.store(load_raw<uint64_t>(frame.payload), std::memory_order_release);
    return 0;
  }
  const wire::AtomicEth operands = frame.atomic();
  if (frame.opcode == wire::Opcode::kRcFetchAdd || frame.opcode == wire::Opcode::kXrcFetchAdd) {
    return value.fetch_add(operands.swap_or_add);
  }
  uint64_t found = operands.compare;
  value.compare_exchange_strong(found, operands.swap_or_add);
  return found;
}

}  // namespace uroce::transport
