// SPDX-License-Identifier: BSD-3-Clause
// Round trips and the tail-loss probe.
//
// A loss is named by the packets that arrive behind it. When there are none (the last packet, the
// last ACK, the NAK itself was lost), only the ACK timer is left, which is milliseconds to seconds
// long. So a queue pair measures its round trip: from a packet that asks for an ACK (the very first
// time: from any packet) to the progress past it, one sample at a time, smoothed as TCP does (an
// eighth of the difference, a quarter for the variation). What a recovery sends again is no measure
// (Karn). A probe does not end one, though it may send the very packet again: the time since the
// first copy left is never too short, and a round trip that has become longer than the wait for a
// probe could not be learned otherwise.
//
// After two round trips, four variations and a floor without progress two packets are sent again:
//
//   the oldest   If the peer lacks it, this is the repair. If it has it, its answer to a duplicate
//                says what it has executed: everything behind is lost. Of a READ: its rest.
//   the newest   If only that was lost, this is the repair. If more is missing, the peer names it.
//
// Each further probe waits twice as long. Probes neither spend retries nor move the ACK timer: a
// queue pair fails when its timeout and retry count say so.
#include "transport/tail_probe.h"

#include <algorithm>

#include "transport/recovery.h"

namespace uroce::transport {
namespace {

constexpr uint8_t kProbeDoublingsMax = 10;
constexpr int64_t kRoundTripMaxNs = 1'000'000'000;

// Whether the newest packet belongs to another work request than the oldest, or to a message of
// several packets, so that it is another packet.
bool newest_is_another(const QpContext& qp) {
  const SendQueue& send = qp.queues->send;
  const uint32_t oldest = send.consumer.load(std::memory_order_relaxed);
  if (qp.req.begun_index - oldest > 1) return true;
  return qp.req.outstanding() > 1 && !completes_by_response(send.wqe(oldest).opcode);
}

}  // namespace

void take_rtt_sample(RequesterState& req, const TransportEnv& env) {
  const int64_t ns = std::clamp<int64_t>((env.now - req.sample_sent).count(), 1, kRoundTripMaxNs);
  req.sample_sent = kNever;
  if (!env.tail_probe) return;
  const auto sample = static_cast<uint32_t>(ns);
  if (req.srtt_ns == 0) {
    req.srtt_ns = sample;
    req.rtt_variation_ns = sample / 2;
    return;
  }
  const uint32_t off = std::max(req.srtt_ns, sample) - std::min(req.srtt_ns, sample);
  req.rtt_variation_ns = req.rtt_variation_ns - req.rtt_variation_ns / 4 + off / 4;
  req.srtt_ns = std::max(1u, req.srtt_ns - req.srtt_ns / 8 + sample / 8);
}

void probe(QpContext& qp, TransportEnv& env) {
  RequesterState& req = qp.req;
  // Packets that were to be sent again are still here: the port is in the way, not the peer.
  const bool waiting = req.ahead(req.next_psn) < req.outstanding();
  const bool refused = req.recovery == Recovery::kRefused;
  if (waiting && !refused) {
    req.probe_deadline = probe_time(req, env.now);
    return;
  }
  if (req.probes < kProbeDoublingsMax) ++req.probes;
  req.probe_deadline = probe_time(req, env.now);
  req.repair_end = req.max_psn;
  req.out_of_turn = kOldestPacket;
  if (!refused && newest_is_another(qp)) req.out_of_turn |= kNewestPacket;
  ++env.counters->tail_probes;
}

}  // namespace uroce::transport
