// SPDX-License-Identifier: BSD-3-Clause
// A second, small model of what RC says on the wire. What the engines know is asked only to tell
// whether a queue pair lives, what it expects, and what it has seen acknowledged.
#include "test/sim/check/wire_rules.h"

#include <algorithm>
#include <cstdio>

#include "test/sim/host.h"
#include "wire/icrc.h"

namespace uroce::sim {
namespace {

constexpr const char* kName = "wire rules";
constexpr uint8_t kRnrForEver = 7;

// The waits that the 5-bit code of an RNR NAK stands for, in steps of 10 us (IBA table 45).
constexpr uint32_t kRnrSteps[32] = {65'536, 1,     2,     3,      4,      6,      8,      12,
                                    16,     24,    32,    48,     64,     96,     128,    192,
                                    256,    384,   512,   768,    1'024,  1'536,  2'048,  3'072,
                                    4'096,  6'144, 8'192, 12'288, 16'384, 24'576, 32'768, 49'152};

// RC and XRC are the same on the wire but for the queue that a request of XRC names.
constexpr uint32_t kReliableServices = wire::kRc | wire::kXrc;

// A frame of a reliable service that reaches `to` and is whole. One flipped bit makes a group's
// Ethernet address of an own one, and a port lets those through: what counts is the IP address.
bool read(std::span<const uint8_t> bytes, const MacAddress& to, wire::ParsedFrame& frame) {
  if (bytes.size() < 14) return false;
  const bool group = (bytes[0] & 1) != 0;
  if (!group && wire::load_mac(bytes.data()) != to) return false;
  return wire::parse_roce(bytes, {}, frame) == wire::Drop::kNone &&
         frame.info->has(kReliableServices) && wire::icrc_ok(frame);
}

bool takes_requests(const transport::QpContext* qp) {
  return qp != nullptr &&
         (qp->state == transport::QpState::kRtr || qp->state == transport::QpState::kRts ||
          qp->state == transport::QpState::kSqd);
}

bool sends_requests(const transport::QpContext* qp) {
  return qp != nullptr &&
         (qp->state == transport::QpState::kRts || qp->state == transport::QpState::kSqd);
}

bool outstanding(const transport::QpContext& qp, Psn psn) {
  return qp.req.ahead(psn) < qp.req.outstanding();
}

}  // namespace

void WireRules::connected(WirePeer own, WirePeer peer, uint32_t first_psn, uint32_t mtu_bytes,
                          uint8_t rnr_retry) {
  const Key key{own.host, peer.host, peer.qpn};
  End end{};
  end.own = own;
  end.peer = peer;
  end.first_psn = Psn(first_psn);
  end.mtu_bytes = mtu_bytes;
  end.rnr_retry = rnr_retry;
  end.refusals_at = end.first_psn;
  ends_[key] = end;
  by_own_[{own.host, own.qpn}] = key;
}

uint32_t WireRules::refusals(WirePeer own) const {
  const auto known = by_own_.find({own.host, own.qpn});
  return known == by_own_.end() ? 0 : ends_.at(known->second).refusals_most;
}

WireRules::End* WireRules::find(uint8_t own_host, uint8_t peer_host, uint32_t peer_qpn) {
  const auto found = ends_.find({own_host, peer_host, peer_qpn});
  return found == ends_.end() ? nullptr : &found->second;
}

void WireRules::fail(const End& end, const wire::ParsedFrame& frame, const char* what) {
  char text[200];
  std::snprintf(text, sizeof text, "host%u QP 0x%06x sends opcode 0x%02x PSN 0x%06x: %s",
                unsigned{end.own.host}, end.own.qpn, static_cast<unsigned>(frame.opcode),
                frame.psn.value(), what);
  verdict_.fail(kName, text);
}

// Messages that end before `end`.
uint32_t WireRules::messages_until(const End& requester, Psn end) {
  const uint32_t distance = (end - requester.first_psn.value()).value();
  const auto& ends = requester.message_ends;
  return static_cast<uint32_t>(std::ranges::lower_bound(ends, distance) - ends.begin());
}

void WireRules::sent(Host& host, Time now, std::span<const uint8_t> bytes) {
  wire::ParsedFrame frame;
  if (bytes.size() < 14 || wire::parse_roce(bytes, {}, frame) != wire::Drop::kNone) return;
  if (!frame.info->has(kReliableServices)) return;
  // The last byte of an own MAC address is the host's number.
  End* const end = find(host.number(), bytes[5], frame.dest_qpn.value());
  if (end == nullptr) return;
  if (frame.info->has(wire::kRequest)) {
    request(host, now, *end, frame);
  } else if (frame.info->has(wire::kAckOp)) {
    acknowledge(host, *end, frame);
  }
}

void WireRules::request(Host& host, Time now, End& end, const wire::ParsedFrame& frame) {
  const transport::QpContext* qp = host.engine().qp(Qpn(end.own.qpn));
  if (end.refused &&
      (qp == nullptr || qp->req.unacked_psn.after(*end.refused) || now >= end.refused_until)) {
    end.refused.reset();
  }
  if (end.refused && !frame.psn.before(*end.refused)) {
    fail(end, frame, "at or behind what an RNR NAK has refused, and the wait is not over");
  }
  const uint32_t distance = (frame.psn - end.first_psn.value()).value();
  if (distance < end.sent) return;
  if (distance != end.sent) fail(end, frame, "PSNs were left out");
  uint32_t psns = 1;
  if (frame.info->has(wire::kRead)) {
    psns = std::max(1u, (frame.reth().length_bytes + end.mtu_bytes - 1) / end.mtu_bytes);
  }
  end.sent = distance + psns;
  if (frame.info->has(wire::kLast | wire::kOnly)) end.message_ends.push_back(end.sent - 1);
}

void WireRules::acknowledge(Host& host, End& end, const wire::ParsedFrame& frame) {
  const wire::Aeth aeth = frame.aeth();
  const bool positive = aeth.kind() == wire::AethKind::kAck;
  if (!positive) nak(end, frame);
  const transport::QpContext* qp = host.engine().qp(Qpn(end.own.qpn));
  const End* const requester = find(end.peer.host, end.own.host, end.own.qpn);
  if (qp == nullptr || requester == nullptr) return;
  const uint32_t least = messages_until(*requester, positive ? frame.psn + 1 : frame.psn);
  const uint32_t most = messages_until(*requester, qp->resp.expected_psn);
  if (aeth.msn < least || aeth.msn > most) fail(end, frame, "the MSN is wrong");
}

void WireRules::nak(End& end, const wire::ParsedFrame& frame) {
  const wire::Aeth aeth = frame.aeth();
  if (aeth.kind() == wire::AethKind::kRnrNak) end.rnr_nak = frame.psn;
  if (aeth.syndrome != wire::Aeth::nak(wire::NakCode::kPsnSequence)) return;
  if (end.sequence_nak == frame.psn) fail(end, frame, "a second NAK for one gap");
  end.sequence_nak = frame.psn;
}

// What came before a packet that made the gap shorter has had its NAK; another one is due when
// something comes behind that packet.
void WireRules::note_gap(End& end, Psn psn, Psn expected) {
  if (psn.after(expected) && (!end.gap || !psn.before(*end.gap))) {
    end.gap = psn;
    end.filler.reset();
  } else if (end.gap && !psn.before(expected)) {
    end.filler = psn;
  }
}

void WireRules::before(Host& host, std::span<const RxFrame> frames) {
  rnr_naks_.clear();
  for (const RxFrame& bytes : frames) {
    wire::ParsedFrame frame;
    if (!read({bytes.bytes, bytes.length}, host.mac(), frame)) continue;
    const auto known = by_own_.find({host.number(), frame.dest_qpn.value()});
    if (known == by_own_.end()) continue;
    End& end = ends_.at(known->second);
    const transport::QpContext* qp = host.engine().qp(frame.dest_qpn);
    if (frame.info->has(wire::kRequest)) {
      if (takes_requests(qp)) note_gap(end, frame.psn, qp->resp.expected_psn);
    } else if (frame.info->has(wire::kAckOp) && sends_requests(qp) &&
               frame.aeth().kind() == wire::AethKind::kRnrNak && outstanding(*qp, frame.psn)) {
      const bool oldest = frame.psn == qp->req.unacked_psn;
      rnr_naks_.push_back({known->second, frame.psn, frame.aeth().rnr_timer(), oldest});
    }
  }
}

// The NAK acknowledges what is before it, and may have come with other news.
void WireRules::count_refusal(End& end, const transport::QpContext* qp, bool certain) {
  if (sends_requests(qp) && qp->req.unacked_psn != end.refusals_at) {
    end.refusals_at = qp->req.unacked_psn;
    end.refusals_least = end.refusals_most = 0;
  }
  ++end.refusals_most;
  if (certain) ++end.refusals_least;
}

void WireRules::after(Host& host, Time now) {
  for (const RnrNak& nak : rnr_naks_) {
    End& end = ends_.at(nak.key);
    const transport::QpContext* qp = host.engine().qp(Qpn(end.own.qpn));
    const bool alone = std::ranges::count(rnr_naks_, nak.key, &RnrNak::key) == 1;
    // Behind a READ that lacks its answer it costs nothing if nothing is left: that is asked for.
    // And the answer may have come with it, as progress that gives all retries back.
    count_refusal(end, qp, alone && nak.oldest && end.refused != nak.psn);
    if (!sends_requests(qp) || !outstanding(*qp, nak.psn)) continue;
    if (end.rnr_retry != kRnrForEver && end.refusals_least > end.rnr_retry) {
      verdict_.fail(kName, "more RNR NAKs than rnr_retry allows, and the requester goes on");
    }
    // The same refusal once more, before the packet was sent again, does not make the wait longer.
    if (end.refused == nak.psn) continue;
    end.refused = nak.psn;
    end.refused_until = now + Duration(int64_t{kRnrSteps[nak.timer & 31]} * 10'000);
  }
}

void WireRules::turned(Host& host) {
  for (auto& [key, end] : ends_) {
    if (end.own.host != host.number() || !end.gap) continue;
    const Psn gap = *end.gap;
    const transport::QpContext* qp = host.engine().qp(Qpn(end.own.qpn));
    const std::optional<Psn> filler = end.filler;
    end.gap.reset();
    end.filler.reset();
    if (!takes_requests(qp)) continue;
    const Psn expected = qp->resp.expected_psn;
    if (filler && filler->before(expected)) continue;
    if (!gap.after(expected) || end.sequence_nak == expected || end.rnr_nak == expected) continue;
    char text[160];
    std::snprintf(text, sizeof text,
                  "host%u QP 0x%06x has got PSN 0x%06x, lacks 0x%06x, and sends no NAK",
                  unsigned{end.own.host}, end.own.qpn, gap.value(), expected.value());
    verdict_.fail(kName, text);
  }
}

}  // namespace uroce::sim
