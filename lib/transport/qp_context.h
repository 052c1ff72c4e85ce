// SPDX-License-Identifier: BSD-3-Clause
// One queue pair as its engine sees it: data only. Behaviour is in requester, responder,
// completer, retry, replay, ud, qp_state and error_class.
//
// Contexts live in the engine's slab at an address computed from the QPN. Everything here has one
// writer, the engine; `state_word` is read by posting threads.
#ifndef UROCE_TRANSPORT_QP_CONTEXT_H
#define UROCE_TRANSPORT_QP_CONTEXT_H

#include <atomic>
#include <cstdint>

#include "base/counter.h"
#include "base/types.h"
#include "transport/completion_queue.h"
#include "transport/event_list.h"
#include "transport/qp_attributes.h"
#include "transport/requester_state.h"
#include "transport/responder_state.h"
#include "transport/shared_receive_queue.h"
#include "transport/work_queue.h"

namespace uroce::transport {

inline constexpr uint32_t kReadAtomicMax = 16;  // rd_atomic_max and dest_rd_atomic_max at most
// Unanswered responses at once: every replay slot, an ACK behind each, and room for NAKs and
// replays of duplicates. A power of two.
inline constexpr uint32_t kResponsesMax = 64;
inline constexpr uint32_t kAckRequestPeriod = 65;  // packets without AckReq at most, then one asks

// Rings and side arrays of one queue pair: memory of the device, lent from create to destroy.
struct QpQueues {
  SendQueue send;
  ReceiveQueue recv;  // with a shared receive queue: one slot, for the WQE taken from it
  SendProgress* progress = nullptr;  // one per send slot, same index & mask
  Response* responses = nullptr;     // kResponsesMax (RC)
  ReplaySlot* replay = nullptr;      // kReadAtomicMax (RC)
  // Posting threads read it to judge a post; the engine stores it at every change of state.
  std::atomic<QpState> state_word{QpState::kReset};
};

struct QpContext {
  QpQueues* queues = nullptr;  // nullptr: slot unused
  Qpn qpn;
  QpType type = QpType::kRc;
  QpState state = QpState::kReset;
  bool signal_all = false;        // sq_sig_all
  bool on_transmit_list = false;  // engine's
  bool block_multicast_loopback = false;
  uint32_t pd = 0;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* recv_cq = nullptr;
  SharedReceiveQueue* srq = nullptr;  // nullptr: receives are posted to `queues->recv`
  uint32_t recv_pd = 0;               // in whose keys scatter lists of receives are
  // XRC target. Then pd, recv_pd, recv_cq and srq are those of the latest message (xrc.h).
  uint32_t xrc_domain = 0;
  void* user = nullptr;  // the face's handle, put into completions and events
  uint16_t pkey = 0xFFFF;

  QpAttributes attributes;  // as set; PSNs and state in it are refreshed by query only
  uint32_t mtu_bytes = 0;   // of attributes.path_mtu
  RequesterState req;
  ResponderState resp;

  // Engine's: transmit list link, timer.
  QpContext* transmit_next = nullptr;
  Time timer_armed_for = kNever;  // what the wheel holds; the truth is next_deadline()
  QpContext* timer_next = nullptr;
  QpContext* timer_previous = nullptr;
  uint32_t timer_bucket = 0;
  EventSource events;           // not fetched yet
  uint8_t counted_timeout = 0;  // the ACK timeout code that the engine counts as armed; 0: none

  // Per-QP counters for users (testroce): of receive packets lost to an empty queue, etc.
  Counter recv_queue_empty;
  Counter qkey_violations;
  Counter pkey_violations;
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_QP_CONTEXT_H
