// SPDX-License-Identifier: BSD-3-Clause
// Taking completions out of the books.
#include "test/fuzz/engine/books.h"

#include <utility>

#include "test/fuzz/engine/breach.h"

namespace uroce::fuzz {
namespace {

void check_behind_failure(const ib_wc& wc, const char* queue) {
  if (wc.status == IB_WC_WR_FLUSH_ERR) return;
  breach("a %s completes with \"%s\" behind one that failed", queue, ib_wc_status_msg(wc.status));
}

}  // namespace

void QpBook::reset(bool polled) {
  QpBook next;
  if (!polled) {
    next.former_ = std::move(former_);
    for (const Send& send : sends_) next.former_.insert(send.id);
    next.former_.insert(receives_.begin(), receives_.end());
  }
  *this = std::move(next);
}

void QpBook::take(const ib_wc& wc) {
  if (former_.erase(wc.wr_id) != 0) return;
  switch (Numbers::queue_of(wc.wr_id)) {
    case Queue::kSend:
      return take_send(wc);
    case Queue::kReceive:
      return take_receive(wc);
    default:
      breach("a completion with wr_id %#llx, which nobody posted", wc.wr_id);
  }
}

void QpBook::take_send(const ib_wc& wc) {
  // Those before it that were not signaled have ended well, without a word.
  while (!sends_.empty() && sends_.front().id != wc.wr_id && !sends_.front().signaled &&
         !send_failed_) {
    sends_.pop_front();
  }
  if (sends_.empty() || sends_.front().id != wc.wr_id) {
    breach("send %#llx completes (%s) and is not the one that is due", wc.wr_id,
           ib_wc_status_msg(wc.status));
  }
  if (send_failed_) check_behind_failure(wc, "send");
  if (wc.status == IB_WC_SUCCESS && !sends_.front().signaled) {
    breach("send %#llx was not signaled and completes", wc.wr_id);
  }
  send_failed_ = send_failed_ || wc.status != IB_WC_SUCCESS;
  sends_.pop_front();
}

void QpBook::take_receive(const ib_wc& wc) {
  if (receives_.empty() || receives_.front() != wc.wr_id) {
    breach("receive %#llx completes (%s) and is not the one that is due", wc.wr_id,
           ib_wc_status_msg(wc.status));
  }
  if (receive_failed_) check_behind_failure(wc, "receive");
  receive_failed_ = receive_failed_ || wc.status != IB_WC_SUCCESS;
  receives_.pop_front();
}

void QpBook::check_flushed(uint32_t qp_num) const {
  for (const Send& send : sends_) {
    if (!send.signaled && !send_failed_) continue;  // ended well before
    breach("QP %#x is in ERR and send %#llx has not completed", qp_num,
           static_cast<unsigned long long>(send.id));
  }
  if (receives_.empty()) return;
  breach("QP %#x is in ERR and receive %#llx has not completed", qp_num,
         static_cast<unsigned long long>(receives_.front()));
}

void SharedBook::take(const ib_wc& wc) {
  if (posted_.erase(wc.wr_id) != 0) return;
  breach("shared receive %#llx completes (%s) and is not posted any more", wc.wr_id,
         ib_wc_status_msg(wc.status));
}

}  // namespace uroce::fuzz
