// SPDX-License-Identifier: BSD-3-Clause
// Keeping the books of work requests.
#include "test/sim/check/completions.h"

#include <string>

namespace uroce::sim {
namespace {

constexpr const char* kName = "completions";

bool is_flush(const ib_wc& wc) { return wc.status == IB_WC_WR_FLUSH_ERR; }

void check_success(const ib_wc& wc, const Sent& sent, Verdict& verdict) {
  if (wc.opcode != sent.kind->completion) {
    verdict.fail(kName, std::string(sent.kind->name) + " completes with opcode " +
                            std::to_string(wc.opcode));
  }
  if (!sent.list.empty() && wc.byte_len != sent.length) {
    verdict.fail(kName, std::string(sent.kind->name) + " of " + std::to_string(sent.length) +
                            " bytes completes with byte_len " + std::to_string(wc.byte_len));
  }
  if (!sent.signaled) {
    verdict.fail(kName, "request " + std::to_string(wc.wr_id) + " was not signaled and completes");
  }
}

}  // namespace

std::vector<Sent> SendLedger::take(const ib_wc& wc, Verdict& verdict) {
  std::vector<Sent> ended;
  // One that failed before is followed by flushed ones, each of which speaks for itself.
  while (!outstanding_.empty() && outstanding_.front().id != wc.wr_id && !failed_ &&
         !outstanding_.front().signaled) {
    ended.push_back(std::move(outstanding_.front()));
    outstanding_.pop_front();
  }
  if (outstanding_.empty() || outstanding_.front().id != wc.wr_id) {
    verdict.fail(kName, "send completion " + std::to_string(wc.wr_id) + " where " +
                            (outstanding_.empty() ? std::string("none")
                                                  : std::to_string(outstanding_.front().id)) +
                            " was due");
    return ended;
  }
  if (failed_ && !is_flush(wc)) {
    verdict.fail(kName, std::string("behind a failure: ") + ib_wc_status_msg(wc.status));
  }
  if (wc.status == IB_WC_SUCCESS) {
    check_success(wc, outstanding_.front(), verdict);
  } else {
    failed_ = true;
  }
  ended.push_back(std::move(outstanding_.front()));
  outstanding_.pop_front();
  return ended;
}

void SendLedger::reset() {
  outstanding_.clear();
  failed_ = false;
}

void RecvLedger::take(const ib_wc& wc, Verdict& verdict) {
  if (wc.wr_id != taken_ || taken_ == posted_) {
    verdict.fail(kName, "receive completion " + std::to_string(wc.wr_id) + " where " +
                            std::to_string(taken_) + " was due");
    return;
  }
  if (failed_ && !is_flush(wc)) {
    verdict.fail(kName, std::string("a receive behind a failure: ") + ib_wc_status_msg(wc.status));
  }
  failed_ = failed_ || wc.status != IB_WC_SUCCESS;
  ++taken_;
}

void RecvLedger::reset() {
  taken_ = posted_;
  failed_ = false;
}

}  // namespace uroce::sim
