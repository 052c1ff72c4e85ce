// SPDX-License-Identifier: BSD-3-Clause
// Making the regions, and looking at what nobody may write.
#include "test/fuzz/engine/arena.h"

#include <cstring>

#include "test/fuzz/engine/breach.h"
#include "test/sim/must.h"

namespace uroce::fuzz {
namespace {

using sim::must;

constexpr uint8_t kUntouched = 0xA5;
constexpr int kAllRights = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
                           IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL |
                           IB_ACCESS_FLUSH_PERSISTENT;

}  // namespace

Arena::Arena(sim::Host& host)
    : host_(host),
      bytes_(begin(kPartCount), kUntouched),
      pd_(must(ib_alloc_pd(host.device(), 0), "ib_alloc_pd")) {
  const auto add = [this](Part part, int access) {
    mrs_[part] = must(ib_reg_user_mr(pd_, reinterpret_cast<uint64_t>(memory(part)), kPartBytes,
                                     iova(part), access),
                      "ib_reg_user_mr");
  };
  add(kOpen, kAllRights);
  add(kFixed, IB_ACCESS_REMOTE_READ);
  add(kLocal, IB_ACCESS_LOCAL_WRITE);
  mrs_[kFast] = must(ib_alloc_mr(pd_, IB_MR_TYPE_MEM_REG, 4), "ib_alloc_mr");
  for (size_t i = 0; i < kWindows; ++i) replace_window(i);
}

Arena::~Arena() {
  for (ib_mw* window : windows_) {
    host_.note_key(window->rkey);
    must(ib_dealloc_mw(window), "ib_dealloc_mw");
  }
  for (ib_mr* mr : mrs_) {
    host_.note_key(mr->lkey);
    must(ib_dereg_mr(mr), "ib_dereg_mr");
  }
  must(ib_dealloc_pd(pd_), "ib_dealloc_pd");
}

Arena::Target Arena::target(uint8_t choice) {
  const auto fast = reinterpret_cast<uint64_t>(memory(kFast));
  switch (choice % 12) {
    case 0:
    case 1:
    case 2:
      return {iova(kOpen), mrs_[kOpen]->rkey};
    case 3:
      return {iova(kFixed), mrs_[kFixed]->rkey};
    case 4:
      return {iova(kLocal), mrs_[kLocal]->lkey};
    case 5:
      return {fast, mrs_[kFast]->lkey};
    case 6:
      return {iova(kOpen), windows_[0]->rkey};
    case 7:
      return {iova(kOpen), windows_[1]->rkey};
    case 8:
      return {reinterpret_cast<uint64_t>(memory(kOpen)), pd_->local_dma_lkey};
    case 9:
      return {iova(kOpen), mrs_[kOpen]->rkey + 1};
    case 10:
      return {iova(kOpen), retired_key_};
    default:
      return {0, windows_[choice / 128]->rkey};
  }
}

void Arena::replace_open(int access) {
  const auto start = reinterpret_cast<uint64_t>(memory(kOpen));
  ib_mr* const mr = ib_reg_user_mr(pd_, start, kPartBytes, iova(kOpen), access);
  if (IS_ERR(mr)) return;
  ib_mr* const former = mrs_[kOpen];
  const uint32_t former_key = former->lkey;
  if (ib_dereg_mr(former) != 0) {  // windows are bound to it
    must(ib_dereg_mr(mr), "ib_dereg_mr of a region without windows");
    return;
  }
  mrs_[kOpen] = mr;
  retired_key_ = former_key;
}

void Arena::change_open(int flags, uint32_t from, uint32_t length, int access) {
  from %= kPartBytes;
  const uint32_t room = kPartBytes - from;
  ib_rereg_user_mr(mrs_[kOpen], flags, reinterpret_cast<uint64_t>(memory(kOpen)) + from,
                   length % (room + 1), iova(kOpen) + from, access, pd_);
}

void Arena::replace_window(size_t index) {
  const size_t at = index % kWindows;
  if (windows_[at] != nullptr) must(ib_dealloc_mw(windows_[at]), "ib_dealloc_mw");
  windows_[at] = must(ib_alloc_mw(pd_, at == 0 ? IB_MW_TYPE_1 : IB_MW_TYPE_2), "ib_alloc_mw");
}

void Arena::check_untouched() const {
  const auto check = [this](uint32_t from, uint32_t length) {
    const uint8_t* const first = &bytes_[from];
    // Every byte is the one before it.
    if (*first == kUntouched && std::memcmp(first, first + 1, length - 1) == 0) return;
    uint32_t at = from;
    while (bytes_[at] == kUntouched) ++at;
    breach("byte %u of the memory, which nobody may write, is %#x", at, unsigned{bytes_[at]});
  };
  for (uint32_t part = 0; part <= kPartCount; ++part) check(begin(part) - kGuardBytes, kGuardBytes);
  check(begin(kFixed), kPartBytes);
  check(begin(kLocal), kPartBytes);
}

}  // namespace uroce::fuzz
