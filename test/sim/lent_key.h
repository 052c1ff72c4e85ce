// SPDX-License-Identifier: BSD-3-Clause
// A part of an endpoint's memory that a fast region or a window lends to the peer, under a key that
// work requests make valid and invalid; and what must be true of it when.
#ifndef UROCE_TEST_SIM_LENT_KEY_H
#define UROCE_TEST_SIM_LENT_KEY_H

#include <cstdint>
#include <span>
#include <vector>

#include "test/sim/check/completions.h"
#include "test/sim/host.h"
#include "test/sim/plan.h"

namespace uroce::sim {

enum class Lender : uint8_t { kFastRegion, kWindow1, kWindow2 };
inline constexpr uint32_t kLenders = 3;

// The lender that an operation which changes a key is about.
Lender lender_of(const OperationKind& kind, const Operation& operation);

// The owner's application says that a key is open when the completion of the request that made it
// valid has come, and that it is dead when the completion of what took it back has. In between the
// key is changing, and the peer's access may go either way.
class LentKey {
 public:
  // [begin, end) of `memory` can be lent: the peer writes to the first half, reads from the second.
  LentKey(Lender lender, std::span<uint8_t> memory, uint32_t begin, uint32_t end);

  // `parent` stands for all of the memory, byte 0 under the address `iova`: windows are bound to
  // it.
  void create(Host& host, ib_pd* pd, ib_mr* parent, uint64_t iova);
  // Whatever its state.
  void destroy(Verdict& verdict);

  Lender lender() const { return lender_; }
  bool open() const { return state_ == State::kOpen; }
  // A type 1 window may be bound again while it is bound.
  bool can_lend() const;
  bool permits(Effect effect) const;
  // How often a change of it has begun.
  uint32_t changes() const { return changes_; }
  uint32_t key() const { return key_; }
  // One that is certainly not valid; 0: none is known.
  uint32_t dead_key() const { return state_ == State::kClosed ? key_ : dead_key_; }
  // Offsets in memory that are lent while it is open.
  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  uint32_t write_begin() const { return begin_; }
  uint32_t read_begin() const { return area_begin_ + (area_end_ - area_begin_) / 2; }
  uint64_t address_of(uint32_t offset) const { return address_ + (offset - begin_); }

  // The request that lends it (REG_MR, BIND_MW) or takes it back (LOCAL_INV; of a type 1 window
  // BIND_MW of nothing). Once it is posted begin_change() follows, and opened() or closed() when it
  // has completed.
  void lend(const Operation& operation, Request& request);
  void take_back(Request& request) const;
  void begin_change(bool lends, Verdict& verdict);
  void opened();
  void closed();

 private:
  enum class State : uint8_t { kClosed, kChanging, kOpen };
  struct Wanted {
    uint32_t key = 0;
    int access = 0;
    uint32_t begin = 0;
    uint32_t end = 0;
    uint64_t address = 0;
  };
  void check_frozen(Verdict& verdict);

  const Lender lender_;
  const std::span<uint8_t> memory_;
  const uint32_t area_begin_;
  const uint32_t area_end_;
  ib_mr* parent_ = nullptr;
  uint64_t iova_ = 0;
  ib_mr* mr_ = nullptr;
  ib_mw* mw_ = nullptr;
  State state_ = State::kClosed;
  uint32_t changes_ = 0;
  uint32_t key_ = 0;
  uint32_t dead_key_ = 0;
  int access_ = 0;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  uint64_t address_ = 0;  // of byte begin_, as the peer names it
  Wanted wanted_;         // what the newest request that lends asks for
  // Memory as it was when the key was dead: nobody may change it until it is lent again.
  std::vector<uint8_t> frozen_;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_LENT_KEY_H
