// SPDX-License-Identifier: BSD-3-Clause
// The queue pairs that have something to send, in the order of their turns: a list through the
// contexts themselves.
#ifndef UROCE_ENGINE_TRANSMIT_LIST_H
#define UROCE_ENGINE_TRANSMIT_LIST_H

#include "transport/qp_context.h"

namespace uroce::engine {

class TransmitList {
 public:
  bool empty() const { return head_ == nullptr; }
  transport::QpContext& front() { return *head_; }

  // Nothing happens when the queue pair is on the list already.
  void push_back(transport::QpContext& qp) {
    if (qp.on_transmit_list) return;
    qp.on_transmit_list = true;
    qp.transmit_next = nullptr;
    (tail_ != nullptr ? tail_->transmit_next : head_) = &qp;
    tail_ = &qp;
  }

  void pop_front() {
    transport::QpContext& qp = *head_;
    head_ = qp.transmit_next;
    if (head_ == nullptr) tail_ = nullptr;
    qp.transmit_next = nullptr;
    qp.on_transmit_list = false;
  }

  // For destroy only: walks the list.
  void remove(transport::QpContext& qp) {
    if (!qp.on_transmit_list) return;
    transport::QpContext* previous = nullptr;
    for (transport::QpContext* at = head_; at != &qp; at = at->transmit_next) previous = at;
    (previous != nullptr ? previous->transmit_next : head_) = qp.transmit_next;
    if (tail_ == &qp) tail_ = previous;
    qp.transmit_next = nullptr;
    qp.on_transmit_list = false;
  }

 private:
  transport::QpContext* head_ = nullptr;
  transport::QpContext* tail_ = nullptr;
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_TRANSMIT_LIST_H
