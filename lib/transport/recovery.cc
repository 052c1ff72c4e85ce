// SPDX-License-Identifier: BSD-3-Clause
// Recovery from a loss that the peer has named, for peers that keep early packets and for those
// that do not.
//
// A NAK 0x60 says that everything before the named packet has arrived. Of what was sent behind it,
// a strict peer has dropped all, one that keeps early packets nothing; the NAK does not say which.
// So the peer is watched:
//
//   went back  Everything from the named packet on is sent again, as the standard has it. When an
//              ACK passes packets that have not been sent again yet, the peer must have kept them:
//              the rest is not sent again, and the queue pair notes that its peer keeps. One such
//              packet proves nothing: what was taken for lost may have been late only, and a strict
//              peer takes it when it comes. Up to here a strict peer has seen plain go-back-N,
//              packet for packet.
//   repair     The peer keeps: the named packet alone is sent again, then new ones. The peer takes
//              it and all it has kept, and its ACK jumps to the end or to the next gap, which has a
//              NAK of its own. An ACK of the repaired packet and no more, or a NAK of the very
//              next one, means that nothing was kept behind it: the rest is sent again from there,
//              and the peer has to show once more that it keeps.
//   refused    After an RNR NAK: the refused packet alone, and the rest when it has been taken.
//
// What is lost without a NAK is the probe's business (tail_probe.h). Progress after a probe is
// taken to say that all before the probe has arrived or is lost, so it is followed by a recovery at
// once. Where the peer was only slow, that sends needlessly; the measure has learned, and it ends.
#include "transport/recovery.h"

#include "transport/requester.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

// Whether everything before `end`, which was sent, is acknowledged.
bool acknowledged_before(const RequesterState& req, Psn end) {
  return req.ahead(end - 1) >= req.outstanding();
}

// Whether the oldest WQE, which has begun, is acknowledged by nothing but its own response.
bool oldest_waits_for_response(const QpContext& qp) {
  const SendQueue& send = qp.queues->send;
  return completes_by_response(send.wqe(send.consumer.load(std::memory_order_relaxed)).opcode);
}

void repair(QpContext& qp) {
  RequesterState& req = qp.req;
  restart_timers(req);
  go_forward(qp);
  req.recovering = true;
  req.recovery = Recovery::kRepair;
  req.recovery_psn = req.unacked_psn;
  req.repair_end = req.max_psn;
  req.out_of_turn = kOldestPacket;
  req.window = kRepairWindow;
}

void go_back_and_watch(QpContext& qp, const TransportEnv& env) {
  RequesterState& req = qp.req;
  end_recovery(req);
  restart_timers(req);
  go_back(qp);
  req.recovering = true;
  req.recovery_psn = req.unacked_psn;
  if (env.selective_repeat) req.recovery = Recovery::kWentBack;
}

// The end of what the repair could bring, or the sign that it was not enough.
void judge_repair(QpContext& qp, const TransportEnv& env) {
  RequesterState& req = qp.req;
  if (acknowledged_before(req, req.repair_end)) return end_recovery(req);
  if (req.unacked_psn != req.recovery_psn + 1 || oldest_waits_for_response(qp)) return;
  req.peer_keeps = false;
  go_back_and_watch(qp, env);
}

}  // namespace

void end_recovery(RequesterState& req) {
  req.recovery = Recovery::kNone;
  req.probes = 0;
  req.out_of_turn = 0;
  req.window = kUnackedPsnsMax;
}

void hold_at_refused(RequesterState& req) {
  end_recovery(req);
  restart_timers(req);
  req.recovery = Recovery::kRefused;
  req.window = req.ahead(req.rnr_psn) + 1;
}

void recover_from_nak(QpContext& qp, TransportEnv& env, Psn named, bool spend) {
  RequesterState& req = qp.req;
  const bool next_too = req.recovery == Recovery::kRepair && named == req.recovery_psn + 1 &&
                        !acknowledged_before(req, req.repair_end);
  if (next_too) req.peer_keeps = false;
  if (spend && !spend_retry(qp, env)) return;
  // A READ before the named packet has lost its response: that is asked for again, too.
  if (env.selective_repeat && req.peer_keeps && req.unacked_psn == named) {
    repair(qp);
  } else {
    go_back_and_watch(qp, env);
    req.recovery_psn = named;
  }
}

void judge_progress(QpContext& qp, const TransportEnv& env, uint32_t passed) {
  RequesterState& req = qp.req;
  const bool probed = req.probes != 0;
  req.probes = 0;
  req.out_of_turn = 0;  // whatever was to be sent has been overtaken
  switch (req.recovery) {
    case Recovery::kRefused:
      if (req.ahead(req.rnr_psn) >= req.outstanding()) {
        end_recovery(req);
      } else {
        req.window = req.ahead(req.rnr_psn) + 1;
      }
      return;
    case Recovery::kRepair:
      return judge_repair(qp, env);
    case Recovery::kWentBack:
      if (passed > 1) {
        req.peer_keeps = true;
        go_forward(qp);
        end_recovery(req);
        return;
      }
      if (req.next_psn == req.max_psn) end_recovery(req);
      break;
    case Recovery::kNone:
      break;
  }
  if (!probed || acknowledged_before(req, req.repair_end) || oldest_waits_for_response(qp)) return;
  if (env.selective_repeat && req.peer_keeps) {
    repair(qp);
  } else {
    go_back_and_watch(qp, env);
  }
}

}  // namespace uroce::transport
