// SPDX-License-Identifier: BSD-3-Clause
// FLUSH at the responder.
#include "transport/flush.h"

#include <algorithm>
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
KeyVerdict named_memory(const QpContext& qp, const TransportEnv& env, const FlushInProgress& flush,
                        std::span<uint8_t>& range) {
  const Key key(flush.rkey);
  if (flush.whole_region) return env.keys->whole(key, qp.pd, flush.rights, range);
  uint8_t* first = nullptr;
  const KeyVerdict verdict =
      env.keys->translate(key, qp.pd, flush.rights, flush.address, flush.length, first);
  range = {first, flush.length};
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
  if (named_memory(qp, env, begin_flush(frame), range) != KeyVerdict::kGood) {
    return {Verdict::kAccess};
  }
  return {Verdict::kTake};
}

FlushInProgress begin_flush(const ParsedFrame& frame) {
  const Feth feth = frame.feth();
  const wire::Reth reth = frame.reth();
  return {.address = reth.address,
          .length = reth.length_bytes,
          .rkey = reth.rkey.value(),
          .rights = rights_of(feth),
          .opcode = frame.opcode,
          .whole_region = feth.selectivity == Feth::kWholeRegion};
}

KeyVerdict flush_part(QpContext& qp, const TransportEnv& env, bool& done) {
  FlushInProgress& flush = qp.resp.flush;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  done = (flush.rights & memory::kFlushPersistent) == 0;
  if (done) return KeyVerdict::kGood;
  std::span<uint8_t> range;
  const KeyVerdict verdict = named_memory(qp, env, flush, range);
  if (verdict != KeyVerdict::kGood) return verdict;
  const std::span<uint8_t> left = range.subspan(std::min<uint64_t>(flush.written, range.size()));
  const std::span<uint8_t> part = left.first(std::min<uint64_t>(left.size(), kFlushPartBytes));
  memory::write_back(part);
  flush.written += part.size();
  done = part.size() == left.size();
  return KeyVerdict::kGood;
}

}  // namespace uroce::transport
