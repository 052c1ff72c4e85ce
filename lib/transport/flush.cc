// SPDX-License-Identifier: BSD-3-Clause
// FLUSH at the responder.
#include "transport/flush.h"

#include <atomic>
#include <span>

#include "memory/write_back.h"
#include "transport/response_queue.h"
#include "wire/headers.h"

namespace uroce::transport {
namespace {

using memory::KeyVerdict;
using wire::Feth;
using wire::ParsedFrame;

constexpr uint8_t kPlacements = Feth::kGlobalVisibility | Feth::kPersistence;

// The access rights that the placement type needs.
uint32_t rights_of(const Feth& feth) {
  return ((feth.placement & Feth::kGlobalVisibility) != 0 ? memory::kFlushGlobal : 0u) |
         ((feth.placement & Feth::kPersistence) != 0 ? memory::kFlushPersistent : 0u);
}

// What the request names: the range of its RETH, or the whole region that its key opens.
KeyVerdict named_memory(const QpContext& qp, const TransportEnv& env, const ParsedFrame& frame,
                        std::span<uint8_t>& range) {
  const Feth feth = frame.feth();
  const wire::Reth reth = frame.reth();
  if (feth.selectivity == Feth::kWholeRegion) {
    return env.keys->whole(reth.rkey, qp.pd, rights_of(feth), range);
  }
  uint8_t* first = nullptr;
  const KeyVerdict verdict = env.keys->translate(reth.rkey, qp.pd, rights_of(feth), reth.address,
                                                 reth.length_bytes, first);
  range = {first, reth.length_bytes};
  return verdict;
}

}  // namespace

Plan judge_flush(const QpContext& qp, const TransportEnv& env, const ParsedFrame& frame) {
  const QpAttributes& attributes = qp.attributes;
  const Feth feth = frame.feth();
  const bool known = feth.placement != 0 && (feth.placement & ~kPlacements) == 0 &&
                     feth.selectivity <= Feth::kWholeRegion;
  const uint32_t rights = rights_of(feth);
  if (!known || (attributes.access & rights) != rights) return {Verdict::kInvalidRequest};
  if (attributes.dest_rd_atomic_max == 0 || !room_for_read(qp)) return {Verdict::kInvalidRequest};
  // IBA oA19-2: no payload.
  if (frame.payload_length != 0 || frame.reth().length_bytes > wire::Reth::kLengthMax) {
    return {Verdict::kInvalidRequest};
  }
  std::span<uint8_t> range;
  if (named_memory(qp, env, frame, range) != KeyVerdict::kGood) return {Verdict::kAccess};
  return {Verdict::kTake};
}

void execute_flush(const QpContext& qp, const TransportEnv& env, const ParsedFrame& frame) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::span<uint8_t> range;
  if ((frame.feth().placement & Feth::kPersistence) == 0) return;
  if (named_memory(qp, env, frame, range) == KeyVerdict::kGood) memory::write_back(range);
}

}  // namespace uroce::transport
