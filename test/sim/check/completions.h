// SPDX-License-Identifier: BSD-3-Clause
// Checker "completions": each work request completes exactly once, in order, with the right opcode
// and length; one that was not signaled says nothing unless it fails; after the first that fails
// there are flushed ones only.
#ifndef UROCE_TEST_SIM_CHECK_COMPLETIONS_H
#define UROCE_TEST_SIM_CHECK_COMPLETIONS_H

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "test/sim/operations.h"
#include "test/sim/verdict.h"

namespace uroce::sim {

// A posted send work request and all that is known of what it must do.
struct Sent {
  uint64_t id = 0;
  const OperationKind* kind = nullptr;
  uint32_t length = 0;
  bool signaled = true;
  bool solicited = false;
  uint32_t immediate = 0;
  std::vector<uint8_t> bytes;  // of the message; what a READ must bring
  std::vector<ib_sge> list;    // READ: where it must lie
  uint32_t slot = 0;           // the buffer's offset in memory; 0: another's
  uint64_t address = 0;        // in the peer's memory
  uint32_t rkey = 0;
  uint32_t remote = 0;        // offset of it
  uint32_t remote_bytes = 0;  // that change there
  uint64_t announced = 0;     // writes announced to the peer's memory before and with it
  // Number of the lender whose key it changes, or of the peer's through which it goes.
  std::optional<uint8_t> lender;
  uint32_t key_changes = 0;  // of that key, when this was posted through it
  uint32_t key = 0;          // SEND with invalidate: what it takes back
};

class SendLedger {
 public:
  void posted(Sent sent) { outstanding_.push_back(std::move(sent)); }
  // Returns what has ended by this completion, oldest first: the last one with wc.status, those
  // before it, which were not signaled, with success.
  std::vector<Sent> take(const ib_wc& wc, Verdict& verdict);
  bool empty() const { return outstanding_.empty(); }
  size_t size() const { return outstanding_.size(); }
  const std::deque<Sent>& outstanding() const { return outstanding_; }
  bool failed() const { return failed_; }
  // A new life: whatever was outstanding has gone without a word.
  void reset();

 private:
  std::deque<Sent> outstanding_;
  bool failed_ = false;
};

// The same for receive work requests, which are numbered as they are posted.
class RecvLedger {
 public:
  uint64_t posted() { return posted_++; }
  void take(const ib_wc& wc, Verdict& verdict);
  uint64_t outstanding() const { return posted_ - taken_; }
  uint64_t taken() const { return taken_; }
  bool failed() const { return failed_; }
  void reset();

 private:
  uint64_t posted_ = 0;
  uint64_t taken_ = 0;
  bool failed_ = false;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_COMPLETIONS_H
