// SPDX-License-Identifier: BSD-3-Clause
// Reading the host's own frames.
#include "test/fuzz/engine/sent_frames.h"

#include "test/fuzz/engine/breach.h"
#include "wire/icrc.h"
#include "wire/parse.h"

namespace uroce::fuzz {
namespace {

using transport::QpContext;
using transport::QpState;
using wire::ParsedFrame;

[[noreturn]] void breach_of(const ParsedFrame& frame, const char* what) {
  breach("opcode %#04x PSN %#08x to QP %#x is sent: %s", static_cast<unsigned>(frame.opcode),
         frame.psn.value(), frame.dest_qpn.value(), what);
}

bool speaks(const QpContext& qp, const ParsedFrame& frame) {
  switch (qp.type) {
    case transport::QpType::kRc:
      return frame.info->has(wire::kRc);
    case transport::QpType::kUc:
      return frame.info->has(wire::kUc);
    case transport::QpType::kXrcIni:
      return frame.info->has(wire::kXrc) && frame.info->has(wire::kRequest);
    case transport::QpType::kXrcTgt:
      return frame.info->has(wire::kXrc) && frame.info->has(wire::kResponse);
    default:
      return frame.info->has(wire::kUd);
  }
}

// Who may have sent it; nullptr: nobody.
const QpContext* sender_of(FuzzHost& host, const ParsedFrame& frame) {
  for (size_t i = 0; i < kSlotCount; ++i) {
    const QpContext* const qp = host.context(host.slot(i));
    if (qp == nullptr || !speaks(*qp, frame)) continue;
    const bool datagram = frame.info->has(wire::kUd);
    if (datagram ? qp->qpn == frame.deth().source_qpn : qp->attributes.dest_qpn == frame.dest_qpn) {
      return qp;
    }
  }
  return nullptr;
}

// A packet that had left the queue pair before the same turn took it to SQE or ERR says nothing.
void check_request(const QpContext& qp, const ParsedFrame& frame) {
  if (qp.state != QpState::kRts && qp.state != QpState::kSqd) return;
  if (frame.info->has(wire::kUc)) {
    if (!frame.psn.before(qp.req.next_psn)) breach_of(frame, "its PSN was not used yet");
  } else if (qp.req.ahead(frame.psn) >= qp.req.outstanding()) {
    breach_of(frame, "nothing is outstanding there");
  }
}

void check_response(const QpContext& qp, const ParsedFrame& frame) {
  if (qp.state != QpState::kRtr && qp.state != QpState::kRts && qp.state != QpState::kSqd) return;
  const Psn expected = qp.resp.expected_psn;
  if (frame.info->aeth == 0) {
    if (!frame.psn.before(expected)) breach_of(frame, "it answers what has not come");
    return;
  }
  const wire::Aeth aeth = frame.aeth();
  const bool positive = aeth.kind() == wire::AethKind::kAck;
  if (positive ? !frame.psn.before(expected) : frame.psn.after(expected)) {
    breach_of(frame, "it answers what has not come");
  }
  if (Psn(aeth.msn).after(Psn(qp.resp.msn))) breach_of(frame, "its MSN counts what has not come");
}

}  // namespace

void check_sent(FuzzHost& host, std::span<const uint8_t> bytes) {
  wire::L3Info info;
  if (wire::classify(bytes, {}, info) != wire::FrameKind::kRoce) return;
  ParsedFrame frame;
  if (const wire::Drop drop = wire::parse_roce(bytes, {}, frame); drop != wire::Drop::kNone) {
    breach("a frame of %zu bytes is sent that a receiver drops: %s", bytes.size(),
           wire::drop_name(drop));
  }
  if (!wire::icrc_ok(frame)) breach_of(frame, "its ICRC is wrong");
  if (!host.owns(frame)) breach_of(frame, "it comes from somebody else");
  if (frame.info->has(wire::kCnpOp)) return;
  const QpContext* const qp = sender_of(host, frame);
  if (qp == nullptr) breach_of(frame, "no queue pair sends there");
  if (frame.info->has(wire::kUd)) return;
  if (frame.payload_length > qp->mtu_bytes) breach_of(frame, "it is longer than the path MTU");
  if (frame.info->has(wire::kRequest)) {
    check_request(*qp, frame);
  } else {
    check_response(*qp, frame);
  }
}

}  // namespace uroce::fuzz
