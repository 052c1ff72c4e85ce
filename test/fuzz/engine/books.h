// SPDX-License-Identifier: BSD-3-Clause
// The books of work requests: each completes at most once, in the order of its queue, for a queue
// pair that exists; behind one that failed there are flushed ones only; and a queue pair in ERR
// keeps none.
//
// They know nothing of what a request should have done: the peer is an input of the fuzzer, and any
// status may be right.
#ifndef UROCE_TEST_FUZZ_ENGINE_BOOKS_H
#define UROCE_TEST_FUZZ_ENGINE_BOOKS_H

#include <uroce/ib_verbs.h>

#include <cstdint>
#include <deque>
#include <unordered_set>

namespace uroce::fuzz {

// Numbers of work requests. The queue stands in their upper half, since a completion that failed
// says nothing else of it.
enum class Queue : uint32_t { kSend = 1, kReceive = 2, kShared = 3 };

class Numbers {
 public:
  uint64_t next(Queue queue) { return uint64_t{static_cast<uint32_t>(queue)} << 32 | ++last_; }
  static Queue queue_of(uint64_t id) { return static_cast<Queue>(id >> 32); }

 private:
  uint32_t last_ = 0;
};

// One queue pair's own queues.
class QpBook {
 public:
  void sent(uint64_t id, bool signaled) { sends_.push_back({id, signaled}); }
  void received(uint64_t id) { receives_.push_back(id); }
  void take(const ib_wc& wc);
  // In ERR, with its completions polled: breaches when something is left.
  void check_flushed(uint32_t qp_num) const;
  // It sends again, after SQE.
  void sends_again() { send_failed_ = false; }
  // RESET: what was posted has gone. `polled`: every completion so far has been taken; else those
  // that wait in a CQ may still come.
  void reset(bool polled);

 private:
  struct Send {
    uint64_t id;
    bool signaled;
  };
  void take_send(const ib_wc& wc);
  void take_receive(const ib_wc& wc);

  std::deque<Send> sends_;
  std::deque<uint64_t> receives_;
  std::unordered_set<uint64_t> former_;  // of lives before a RESET
  bool send_failed_ = false;
  bool receive_failed_ = false;
};

// All shared receive queues: which queue pair takes a request, and when it completes, is free.
class SharedBook {
 public:
  void received(uint64_t id) { posted_.insert(id); }
  void take(const ib_wc& wc);

 private:
  std::unordered_set<uint64_t> posted_;
};

}  // namespace uroce::fuzz

#endif  // UROCE_TEST_FUZZ_ENGINE_BOOKS_H
