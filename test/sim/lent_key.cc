// SPDX-License-Identifier: BSD-3-Clause
// Work requests about keys, and the state that they leave a key in.
#include "test/sim/lent_key.h"

#include <algorithm>

#include "test/sim/must.h"

namespace uroce::sim {
namespace {

constexpr uint32_t kSkips = 64;  // bytes at either end that may not be lent

int rights_of(uint8_t drawn) {
  if (drawn == 1) return IB_ACCESS_REMOTE_READ;
  if (drawn == 2) return IB_ACCESS_REMOTE_WRITE;
  return IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
}

}  // namespace

Lender lender_of(const OperationKind& kind, const Operation& operation) {
  const bool good = kind.effect == Effect::kTakeBack || kind.effect == Effect::kMessage;
  switch (kind.opcode) {
    case IB_WR_REG_MR:
      return Lender::kFastRegion;
    case IB_WR_BIND_MW:
      if (kind.effect == Effect::kTakeBack) return Lender::kWindow1;
      if (kind.effect == Effect::kBadLend) return Lender::kWindow2;
      return operation.lender % 2 == 0 ? Lender::kWindow1 : Lender::kWindow2;
    case IB_WR_LOCAL_INV:
    case IB_WR_SEND_WITH_INV:
      if (good) return operation.lender % 2 == 0 ? Lender::kFastRegion : Lender::kWindow2;
      break;
    default:
      break;
  }
  return static_cast<Lender>(operation.lender % kLenders);
}

LentKey::LentKey(Lender lender, std::span<uint8_t> memory, uint32_t begin, uint32_t end)
    : lender_(lender), memory_(memory), area_begin_(begin), area_end_(end) {}

void LentKey::create(Host& host, ib_pd* pd, ib_mr* parent, uint64_t iova) {
  parent_ = parent;
  iova_ = iova;
  state_ = State::kClosed;
  dead_key_ = 0;
  ++changes_;
  if (lender_ == Lender::kFastRegion) {
    mr_ = must(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 2), "ib_alloc_mr");
    key_ = mr_->rkey;
  } else {
    const ib_mw_type type = lender_ == Lender::kWindow1 ? IB_MW_TYPE_1 : IB_MW_TYPE_2;
    mw_ = must(ib_alloc_mw(pd, type), "ib_alloc_mw");
    key_ = mw_->rkey;
  }
  host.note_key(key_);
}

void LentKey::destroy(Verdict& verdict) {
  check_frozen(verdict);
  if (mr_ != nullptr) must(ib_dereg_mr(mr_), "ib_dereg_mr of a fast region");
  if (mw_ != nullptr) must(ib_dealloc_mw(mw_), "ib_dealloc_mw");
  mr_ = nullptr;
  mw_ = nullptr;
}

bool LentKey::can_lend() const {
  return state_ == State::kClosed || (open() && lender_ == Lender::kWindow1);
}

bool LentKey::permits(Effect effect) const {
  const int right = effect == Effect::kRead ? IB_ACCESS_REMOTE_READ : IB_ACCESS_REMOTE_WRITE;
  return open() && (access_ & right) != 0;
}

void LentKey::lend(const Operation& operation, Request& request) {
  const uint32_t skipped = operation.remote_offset % kSkips;
  wanted_.begin = area_begin_ + skipped;
  wanted_.end = area_end_ - skipped;
  wanted_.access = rights_of(operation.rights);
  if (lender_ == Lender::kFastRegion) {
    // Named by offsets: the address of a vector is not the same in every run.
    scatterlist piece{reinterpret_cast<uint64_t>(memory_.data()) + wanted_.begin,
                      wanted_.end - wanted_.begin};
    must(ib_map_mr_sg(mr_, &piece, 1, nullptr, 4096), "ib_map_mr_sg");
    wanted_.key = ib_inc_rkey(key_);
    wanted_.address = 0;
    request.reg.mr = mr_;
    request.reg.key = wanted_.key;
    request.reg.access = wanted_.access | IB_ACCESS_LOCAL_WRITE | IB_ZERO_BASED;
    return;
  }
  const bool zero_based = lender_ == Lender::kWindow2 && operation.rights == 3;
  wanted_.key = ib_inc_rkey(mw_->rkey);
  wanted_.address = zero_based ? 0 : iova_ + wanted_.begin;
  request.bind.mw = mw_;
  request.bind.rkey = wanted_.key;
  request.bind.bind_info = {.mr = parent_,
                            .addr = iova_ + wanted_.begin,
                            .length = wanted_.end - wanted_.begin,
                            .mw_access_flags = wanted_.access | (zero_based ? IB_ZERO_BASED : 0)};
}

void LentKey::take_back(Request& request) const {
  if (lender_ != Lender::kWindow1) {
    request.common.ex.invalidate_rkey = key_;
    return;
  }
  request.bind.mw = mw_;
  request.bind.rkey = ib_inc_rkey(mw_->rkey);
}

void LentKey::begin_change(bool lends, Verdict& verdict) {
  if (lends) check_frozen(verdict);
  ++changes_;
  state_ = State::kChanging;
}

void LentKey::opened() {
  dead_key_ = key_;
  key_ = wanted_.key;
  access_ = wanted_.access;
  begin_ = wanted_.begin;
  end_ = wanted_.end;
  address_ = wanted_.address;
  state_ = State::kOpen;
}

void LentKey::closed() {
  state_ = State::kClosed;
  frozen_.assign(memory_.begin() + area_begin_, memory_.begin() + area_end_);
}

void LentKey::check_frozen(Verdict& verdict) {
  if (!frozen_.empty() &&
      !std::equal(frozen_.begin(), frozen_.end(), memory_.begin() + area_begin_)) {
    verdict.fail("keys", "memory changed after the key that lent it was dead");
  }
  frozen_.clear();
}

}  // namespace uroce::sim
