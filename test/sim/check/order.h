// SPDX-License-Identifier: BSD-3-Clause
// Checker "order": what one end sends comes out at the other exactly once and in order, with its
// bytes, its length and its immediate.
#ifndef UROCE_TEST_SIM_CHECK_ORDER_H
#define UROCE_TEST_SIM_CHECK_ORDER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "test/sim/check/completions.h"
#include "test/sim/verdict.h"

namespace uroce::sim {

// What a stream may do to the messages that it carries.
enum class Carriage : uint8_t {
  kReliable,
  kLoses,    // unreliable, over a wire that keeps the order
  kTangles,  // unreliable, over one that does not: they come late and more than once, but whole
};

// One direction of a connection.
class Stream {
 public:
  explicit Stream(Carriage carriage) : carriage_(carriage) {}
  // A message that takes a receive of the other end was posted.
  void sent(const Sent& message);
  // The next one comes out; nothing: it is not what was due. `holds`: whether the receive buffer
  // has the bytes of the message, by which it is recognised where messages may be lost.
  using Holds = std::function<bool(const Sent&)>;
  std::optional<Sent> received(const ib_wc& wc, const Holds& holds, Verdict& verdict);
  // The receive of the next one has failed: which that was, if there is one.
  std::optional<Sent> refused();
  // The sender has been told of success for all messages up to this one.
  void confirmed(const Sent& message);
  // Nothing more will come: what the sender was told has arrived must have come out.
  void check_end(Verdict& verdict) const;
  bool empty() const { return due_.empty(); }
  size_t size() const { return due_.size(); }
  void reset();
  // Messages that were passed over: lost.
  uint64_t lost() const { return lost_; }

 private:
  std::optional<Sent> recognise(const ib_wc& wc, const Holds& holds, Verdict& verdict);

  const Carriage carriage_;
  std::deque<Sent> due_;
  uint64_t lost_ = 0;
  uint64_t confirmed_id_ = 0;  // one past the newest
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_ORDER_H
