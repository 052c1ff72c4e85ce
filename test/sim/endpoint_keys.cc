// SPDX-License-Identifier: BSD-3-Clause
// An endpoint lends memory to its peer and takes it back, and uses what the peer lends.
#include <algorithm>

#include "test/sim/endpoint.h"
#include "test/sim/must.h"

namespace uroce::sim {

void Endpoint::create_lent_keys() {
  if (!plan_.lends) return;
  if (parent_mr_ == nullptr) {
    const uint32_t bytes = kLenders * 2 * lent_half();
    parent_mr_ =
        must(ib_reg_user_mr(pd_, reinterpret_cast<uint64_t>(memory_.data()) + lent_begin_, bytes,
                            kIova + lent_begin_, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND),
             "ib_reg_user_mr");
    host_.note_key(parent_mr_->lkey);
    lent_keys_.reserve(kLenders);
    for (uint32_t i = 0; i < kLenders; ++i) {
      const uint32_t begin = lent_begin_ + i * 2 * lent_half();
      lent_keys_.emplace_back(static_cast<Lender>(i), memory_, begin, begin + 2 * lent_half());
    }
  }
  for (LentKey& key : lent_keys_) key.create(host_, pd_, parent_mr_, kIova);
}

void Endpoint::destroy_lent_keys() {
  for (LentKey& key : lent_keys_) key.destroy(verdict_);
}

// Those that work of this kind is about: a SEND takes back a key of the peer.
std::vector<LentKey>& Endpoint::keys_of(const OperationKind& kind) {
  return is_local(kind) ? lent_keys_ : peer_->lent_keys_;
}

// Whether work through the key of that lender of the peer, as it is now, is under way.
bool Endpoint::accesses(size_t lender, bool reads_only) const {
  const uint32_t changes = peer_->lent_keys_[lender].changes();
  return std::ranges::any_of(ledger_.outstanding(), [&](const Sent& sent) {
    return sent.lender == lender && !works_on_keys(*sent.kind) && sent.key_changes == changes &&
           (!reads_only || sent.kind->effect == Effect::kRead);
  });
}

// Whether the change will catch an access. What the peer has posted may come later than it; and a
// READ may be asked for again behind the SEND that takes the key back, unless a fence is between.
bool Endpoint::catches(const Operation& operation, const OperationKind& kind, size_t lender) const {
  if (is_local(kind)) return peer_->accesses(lender, false);
  return !operation.fence && accesses(lender, true);
}

// Whether the state of the key that it is about allows the operation.
bool Endpoint::suits(const Operation& operation) {
  const OperationKind& kind = kOperations[operation.kind];
  if (!works_on_keys(kind)) return true;
  const auto lender = static_cast<size_t>(lender_of(kind, operation));
  const LentKey& key = keys_of(kind)[lender];
  // What is refused because the key is valid must not find it taken back meanwhile.
  if (!is_local(kind) && peer_->offended_) return false;
  switch (kind.effect) {
    case Effect::kLend:
      return key.can_lend() && (operation.races || !catches(operation, kind, lender));
    case Effect::kBadLend:
      return key.open();
    case Effect::kBadTakeBack:
      return key.dead_key() != 0;
    default:
      return key.open() && (operation.races || !catches(operation, kind, lender));
  }
}

// False: the operation is not to go through a key of the peer, or none is open that allows it.
bool Endpoint::aim_through(const Operation& operation, Sent& sent) const {
  if (peer_->lent_keys_.empty() || !operation.through) return false;
  const LentKey& key = peer_->lent_keys_[operation.lender];
  const uint32_t offset = operation.remote_offset % kLentSpread;
  sent.rkey = key.key();
  switch (sent.kind->effect) {
    case Effect::kWrite:
      sent.remote = key.write_begin() + offset;
      break;
    case Effect::kRead:
      sent.remote = key.read_begin() + offset;
      break;
    case Effect::kTrespass:
      sent.remote = beyond_edge(offset, sent.length, key.begin(), key.end());
      break;
    case Effect::kStaleKey:
      // Valid for other work, or not at all.
      if (!key.open() || key.permits(Effect::kWrite)) sent.rkey = key.dead_key();
      sent.remote = key.begin();
      sent.address = key.address_of(sent.remote);
      return sent.rkey != 0;
    default:
      return false;
  }
  if (!key.permits(sent.kind->effect)) return false;
  sent.address = key.address_of(sent.remote);
  sent.lender = operation.lender;
  sent.key_changes = key.changes();
  return true;
}

void Endpoint::work_on_key(const Operation& operation, Sent& sent, Request& request) {
  const Lender lender = lender_of(*sent.kind, operation);
  LentKey& key = keys_of(*sent.kind)[static_cast<size_t>(lender)];
  sent.lender = static_cast<uint8_t>(lender);
  switch (sent.kind->effect) {
    case Effect::kLend:
    case Effect::kBadLend:
      return key.lend(operation, request);
    case Effect::kBadTakeBack:
      sent.key = key.dead_key();
      break;
    case Effect::kTakeBack:
      return key.take_back(request);
    default:
      sent.key = key.key();
  }
  request.common.ex.invalidate_rkey = sent.key;
}

void Endpoint::begin_key_change(const Operation& operation, const Sent& sent) {
  if (offends(*sent.kind)) return;
  Endpoint& user = is_local(*sent.kind) ? *peer_ : *this;
  user.offended_ = user.offended_ || catches(operation, *sent.kind, *sent.lender);
  keys_of(*sent.kind)[*sent.lender].begin_change(sent.kind->effect == Effect::kLend, verdict_);
}

// The request has succeeded.
void Endpoint::end_key_change(const Sent& sent) {
  LentKey& key = lent_keys_[*sent.lender];
  sent.kind->effect == Effect::kLend ? key.opened() : key.closed();
}

// Refused, rightly: the key began to change after the request had been posted through it. A READ
// that was answered already and is asked for again is not even answered.
bool Endpoint::was_caught(const Sent& sent, ib_wc_status status) const {
  if (!sent.lender || works_on_keys(*sent.kind)) return false;
  const bool unanswered = sent.kind->effect == Effect::kRead && status == IB_WC_RETRY_EXC_ERR;
  if (status != IB_WC_REM_ACCESS_ERR && !unanswered) return false;
  return peer_ == nullptr || peer_->lent_keys_[*sent.lender].changes() != sent.key_changes;
}

// The message whose receive has failed is one that must, or may, fail here.
bool Endpoint::may_fail_receive(ib_wc_status status) {
  const std::optional<Sent> message = incoming_.refused();
  if (!message) return false;
  if (message->kind->effect == Effect::kBadTakeBack) return status == IB_WC_REM_INV_REQ_ERR;
  return status == IB_WC_REM_ACCESS_ERR && message->lender &&
         lent_keys_[*message->lender].changes() != message->key_changes;
}

}  // namespace uroce::sim
