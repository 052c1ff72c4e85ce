// SPDX-License-Identifier: BSD-3-Clause
// The messages that are due, in order.
#include "test/sim/check/order.h"

#include <algorithm>
#include <string>

namespace uroce::sim {
namespace {

constexpr const char* kName = "order";

bool fits(const ib_wc& wc, const Sent& message) {
  return wc.opcode == message.kind->receive && wc.byte_len == message.length &&
         ((wc.wc_flags & IB_WC_WITH_IMM) != 0) == message.kind->immediate &&
         (!message.kind->immediate || wc.ex.imm_data == message.immediate);
}

}  // namespace

void Stream::sent(const Sent& message) {
  if (message.kind->takes_receive) due_.push_back(message);
}

// The first of the messages that it can be. Those before it have been lost, if order is kept.
std::optional<Sent> Stream::recognise(const ib_wc& wc, const Holds& holds, Verdict& verdict) {
  const auto found = std::ranges::find_if(
      due_, [&](const Sent& message) { return fits(wc, message) && holds(message); });
  if (found == due_.end()) {
    verdict.fail(kName, "what comes out is no whole message that was sent and is due");
    return std::nullopt;
  }
  Sent message = *found;
  if (carriage_ == Carriage::kLoses) {
    lost_ += static_cast<uint64_t>(found - due_.begin());
    due_.erase(due_.begin(), found + 1);
  }
  return message;
}

std::optional<Sent> Stream::received(const ib_wc& wc, const Holds& holds, Verdict& verdict) {
  if (carriage_ != Carriage::kReliable) return recognise(wc, holds, verdict);
  if (due_.empty()) {
    verdict.fail(kName, "a message comes out that was never sent, or a second time");
    return std::nullopt;
  }
  Sent message = std::move(due_.front());
  due_.pop_front();
  const std::string which = std::string(message.kind->name) + " " + std::to_string(message.id);
  if (wc.opcode != message.kind->receive) {
    verdict.fail(kName, which + " comes out with opcode " + std::to_string(wc.opcode));
  } else if (wc.byte_len != message.length) {
    verdict.fail(kName, which + " of " + std::to_string(message.length) +
                            " bytes comes out with byte_len " + std::to_string(wc.byte_len));
  } else if (((wc.wc_flags & IB_WC_WITH_IMM) != 0) != message.kind->immediate) {
    verdict.fail(kName, which + ": with or without immediate is not as sent");
  } else if (message.kind->immediate && wc.ex.imm_data != message.immediate) {
    verdict.fail(kName, which + ": immediate " + std::to_string(wc.ex.imm_data) + " and not " +
                            std::to_string(message.immediate));
  }
  const bool invalidates = (wc.wc_flags & IB_WC_WITH_INVALIDATE) != 0;
  if (invalidates != sim::invalidates(*message.kind) ||
      (invalidates && wc.ex.invalidate_rkey != message.key)) {
    verdict.fail(kName, which + ": the key that it takes back is not as sent");
  }
  if (!verdict.good()) return std::nullopt;
  return message;
}

std::optional<Sent> Stream::refused() {
  if (due_.empty()) return std::nullopt;
  Sent message = std::move(due_.front());
  due_.pop_front();
  return message;
}

void Stream::confirmed(const Sent& message) {
  if (message.kind->takes_receive) confirmed_id_ = message.id + 1;
}

void Stream::check_end(Verdict& verdict) const {
  if (due_.empty() || due_.front().id >= confirmed_id_) return;
  verdict.fail(kName, std::string(due_.front().kind->name) + " " + std::to_string(due_.front().id) +
                          " was acknowledged and never came out");
}

void Stream::reset() {
  due_.clear();
  lost_ = 0;
  confirmed_id_ = 0;
}

}  // namespace uroce::sim
