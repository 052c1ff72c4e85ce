// SPDX-License-Identifier: BSD-3-Clause
// The messages that are due, in order.
#include "test/sim/check/order.h"

#include <string>

namespace uroce::sim {
namespace {

constexpr const char* kName = "order";

}  // namespace

void Stream::sent(const Sent& message) {
  if (message.kind->takes_receive) due_.push_back(message);
}

std::optional<Sent> Stream::received(const ib_wc& wc, Verdict& verdict) {
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
  confirmed_id_ = 0;
}

}  // namespace uroce::sim
