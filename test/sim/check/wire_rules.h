// SPDX-License-Identifier: BSD-3-Clause
// Checker "wire rules": reads every frame of RC and XRC that a host sends or is given, and holds
// the order of PSNs, MSNs, sequence NAKs and RNR waits against the standard.
#ifndef UROCE_TEST_SIM_CHECK_WIRE_RULES_H
#define UROCE_TEST_SIM_CHECK_WIRE_RULES_H

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "base/types.h"
#include "test/sim/verdict.h"
#include "transport/qp_context.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::sim {

class Host;

// One queue pair of a connection, by number of its host.
struct WirePeer {
  uint8_t host;
  uint32_t qpn;
};

// - A new request packet has the PSN behind the last one.
// - The MSN of an acknowledgement counts the requests that are complete up to its PSN: at least
//   those that it names, at most those that the responder has taken (IBA 9.7.7.1).
// - One NAK 0x60 per gap, and that one is sent: who waits for a timeout where a NAK was due has not
//   seen the gap (IBA C9-110).
// - After rnr_retry RNR NAKs without progress the next one ends the requester.
// - While an RNR wait lasts, nothing at or behind the refused PSN is sent (IBA C9-149).
class WireRules {
 public:
  explicit WireRules(Verdict& verdict) : verdict_(verdict) {}

  // A life of a connection begins: `own` sends to `peer`, from `first_psn` on.
  void connected(WirePeer own, WirePeer peer, uint32_t first_psn, uint32_t mtu_bytes,
                 uint8_t rnr_retry);
  // RNR NAKs that `own` has got since its last progress: at most so many.
  uint32_t refusals(WirePeer own) const;
  void sent(Host& host, Time now, std::span<const uint8_t> frame);
  // Around the call that gives frames to the engine.
  void before(Host& host, std::span<const RxFrame> frames);
  void after(Host& host, Time now);
  // The host's loop has turned, and everything that was owed has been sent.
  void turned(Host& host);

 private:
  using Key = std::tuple<uint8_t, uint8_t, uint32_t>;  // own host, the peer's host and QPN
  struct End {
    WirePeer own;
    WirePeer peer;
    Psn first_psn;
    uint32_t mtu_bytes;
    uint8_t rnr_retry;
    // As requester; PSNs as distances from first_psn.
    uint32_t sent = 0;
    std::vector<uint32_t> message_ends;  // last PSN of each message
    std::optional<Psn> refused;
    Time refused_until{};
    // RNR NAKs without progress. A copy that the wire made counts or not: it depends on the moment.
    uint32_t refusals_least = 0;
    uint32_t refusals_most = 0;
    Psn refusals_at;  // the oldest PSN unacknowledged then
    // As responder.
    std::optional<Psn> sequence_nak;  // the newest
    std::optional<Psn> rnr_nak;
    std::optional<Psn> gap;     // a packet behind one that is missing
    std::optional<Psn> filler;  // one that came later and lies before it
  };
  struct RnrNak {
    Key key;
    Psn psn;
    uint8_t timer;
    bool oldest;  // no request before it was unanswered
  };

  End* find(uint8_t own_host, uint8_t peer_host, uint32_t peer_qpn);
  static uint32_t messages_until(const End& requester, Psn end);
  void request(Host& host, Time now, End& end, const wire::ParsedFrame& frame);
  void acknowledge(Host& host, End& end, const wire::ParsedFrame& frame);
  static void count_refusal(End& end, const transport::QpContext* qp, bool certain);
  void nak(End& end, const wire::ParsedFrame& frame);
  static void note_gap(End& end, Psn psn, Psn expected);
  void fail(const End& end, const wire::ParsedFrame& frame, const char* what);

  Verdict& verdict_;
  std::map<Key, End> ends_;
  std::map<std::pair<uint8_t, uint32_t>, Key> by_own_;  // host and QPN
  std::vector<RnrNak> rnr_naks_;                        // in the frames of this turn
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_WIRE_RULES_H
