// SPDX-License-Identifier: BSD-3-Clause
// Unreliable connections: a sender that forgets and a receiver that starts anew.
//
// The sender is the RC requester without its memory: same packets, but a message is complete when
// its last packet has left, so nothing is ever outstanding.
//
// The receiver shares with RC what one packet of a SEND or WRITE does. What differs is loss: a
// packet that is not the next one, by PSN or by its place in the message, breaks the message that
// was under way. The receive WQE that a SEND held is used again, from its first byte (a shared one
// ends with an error), and all is dropped until a FIRST or ONLY, which starts anew and says which
// PSN comes next. A packet that is refused for any reason breaks its message too.
#include "transport/uc.h"

#include "transport/completer.h"
#include "transport/error_class.h"
#include "transport/local_operation.h"
#include "transport/request_packet.h"
#include "transport/requester.h"
#include "transport/responder.h"

namespace uroce::transport {
namespace {

using wire::Drop;
using wire::ParsedFrame;

// Nothing more of the message under way will be taken. A WQE of a shared receive queue is used up.
void break_message(QpContext& qp, TransportEnv& env) {
  ResponderState& resp = qp.resp;
  const bool used_up = resp.recv_wqe_held && qp.srq != nullptr;
  resp.message = MessageInProgress::kNone;
  resp.recv_wqe_held = false;
  resp.received_bytes = 0;
  if (used_up) end_receive(qp, env, WcStatus::kRemInvReqErr);
}

Drop reason_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotReady:
      return Drop::kRecvQueueEmpty;
    case Verdict::kTooLong:
      return Drop::kRecvBufferShort;
    case Verdict::kAccess:
      return Drop::kRdmaRefused;
    case Verdict::kBadBuffer:
      return Drop::kRecvBufferInvalid;
    case Verdict::kInvalidRequest:
    case Verdict::kTake:
      break;
  }
  return Drop::kPayloadLength;
}

// Whether the packet is the next one, or one to start anew with.
bool find_start(QpContext& qp, TransportEnv& env, const ParsedFrame& frame) {
  ResponderState& resp = qp.resp;
  const uint32_t flags = frame.info->flags;
  if (frame.psn == resp.expected_psn && in_sequence(resp.message, flags)) return true;
  break_message(qp, env);
  const bool starts = (flags & (wire::kFirst | wire::kOnly)) != 0;
  if (!starts || qp.state == QpState::kErr) return false;
  resp.expected_psn = frame.psn;
  return true;
}

// The packet of the WQE at the cursor has been put out.
void advance(QpContext& qp, TransportEnv& env, const RequestPacket& packet) {
  RequesterState& req = qp.req;
  ++env.ip_id;
  ++env.counters->sent_packets;
  env.counters->sent_bytes.add(packet.payload_bytes);
  req.begun_index = req.next_index + 1;
  req.max_psn = req.unacked_psn = ++req.next_psn;
  if (!packet.ends_message) {
    ++req.next_packet;
    return;
  }
  req.next_packet = 0;
  ++req.next_index;
  if (!complete_oldest_send(qp, env, WcStatus::kSuccess)) [[unlikely]]
    return enter_error(qp, env);
  raise_if_drained(qp, env);
}

}  // namespace

void receive_unreliable(QpContext& qp, TransportEnv& env, const ParsedFrame& frame,
                        ReceiveTime arrival) {
  if (!find_start(qp, env, frame)) return env.drops->count(Drop::kMessageBroken);
  const Plan plan = judge_message(qp, env, frame);
  if (plan.verdict != Verdict::kTake) [[unlikely]] {
    if (plan.verdict == Verdict::kNotReady) ++qp.recv_queue_empty;
    qp.resp.recv_wqe_held = qp.resp.recv_wqe_held || plan.uses_wqe;
    break_message(qp, env);
    return env.drops->count(reason_of(plan.verdict));
  }
  if (!take_message(qp, env, frame, arrival, plan)) [[unlikely]] {
    env.drops->count(Drop::kRecvBufferInvalid);
    qp.resp.recv_wqe_held = true;
    fail_receive(qp, env, WcStatus::kLocProtErr);
  }
}

bool emit_unreliable(QpContext& qp, TransportEnv& env, TxSlot& slot) {
  if (!unreliable_ready(qp, env.now)) return false;
  const RequesterState& req = qp.req;
  const SendWqe& wqe = qp.queues->send.wqe(req.next_index);
  if (wqe.opcode == WrOpcode::kBindMw) [[unlikely]] {
    pass_local_operation(qp, env);
    return false;
  }
  if (wqe.opcode >= WrOpcode::kRdmaRead) [[unlikely]] {
    fail_send(qp, env, WcStatus::kLocQpOpErr);
    return false;
  }
  const RequestPacket packet = message_packet(qp, wqe, req.next_packet);
  uint8_t* bth = request_room(qp, slot, packet.opcode, packet.payload_bytes);
  uint8_t* payload = bth + wire::opcode_info(packet.opcode).header_bytes;
  if (!copy_payload(qp, env, wqe, req.next_packet * qp.mtu_bytes, payload, packet.payload_bytes))
      [[unlikely]] {
    fail_send(qp, env, WcStatus::kLocProtErr);
    return false;
  }
  finish_request_packet(qp, env, wqe, packet, req.next_packet, slot);
  advance(qp, env, packet);
  return true;
}

}  // namespace uroce::transport
