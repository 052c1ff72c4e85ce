// SPDX-License-Identifier: BSD-3-Clause
// Wording and rate of the lines about connections that gave up and peers that cannot be reached.
//
// Time is that of the engine or device that failed. Those of two contexts, or a simulator begun
// anew, may count from another origin: a time before the window begins a new one.
#include "device/failure_log.h"

#include <absl/strings/str_format.h>

#include <cerrno>

#include "base/address_text.h"
#include "base/log.h"
#include "transport/retry.h"

namespace uroce::device {
namespace {

std::string times(unsigned count) {
  return count == 1 ? std::string("once") : absl::StrFormat("%u times", count);
}

double milliseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

std::string silence_sentence(const transport::GaveUp& note) {
  const std::string waited =
      note.timeout == 0 ? std::string("timeout 0: no timer")
                        : absl::StrFormat("timeout %u: %.3f ms each", note.timeout,
                                          milliseconds(transport::ack_timeout(note.timeout)));
  return absl::StrFormat(
      "retry_cnt ran out: no progress after %u retries (%s); see whether the peer runs, its queue "
      "pair is in RTR and the path carries UDP port 4791, or raise timeout or retry_cnt",
      note.retry_count, waited);
}

std::string not_ready_sentence(const transport::GaveUp& note) {
  return absl::StrFormat(
      "rnr_retry ran out: refused %s because the peer had no receive posted; let the peer post "
      "receives earlier or raise its min_rnr_timer, or raise rnr_retry (now %u; 7: without end)",
      times(note.rnr_retry + 1u), note.rnr_retry);
}

}  // namespace

std::string gave_up_sentence(const transport::GaveUp& note) {
  return absl::StrFormat("QP 0x%06x to %s QP 0x%06x gives up at PSN 0x%06x, %s", note.qpn.value(),
                         address_text(note.peer), note.peer_qpn.value(), note.psn.value(),
                         note.not_ready ? not_ready_sentence(note) : silence_sentence(note));
}

std::string unreachable_sentence(const Unreachable& note) {
  const std::string why =
      note.error == -ETIMEDOUT
          ? absl::StrFormat(
                "no answer to %s; see whether that host, or the gateway to it, is up and on this "
                "link and VLAN, and whether another GID index was meant",
                note.destination.is_ipv4() ? "ARP" : "neighbour discovery")
          : std::string(
                "there is no route to it; give the port an address in its network or a gateway, "
                "or use the GID index of such an address");
  return absl::StrFormat("port %s cannot reach %s from %s (GID index %u): %s", note.port,
                         address_text(note.destination), address_text(note.source), note.sgid_index,
                         why);
}

FailureLog& FailureLog::instance() {
  static FailureLog& log = *new FailureLog;
  return log;
}

void FailureLog::write(const transport::GaveUp& note) { write(note.when, gave_up_sentence(note)); }

void FailureLog::write(Time when, const Unreachable& note) {
  write(when, unreachable_sentence(note));
}

void FailureLog::write(Time when, std::string sentence) {
  const std::lock_guard guard(lock_);
  const bool inside = started_ && when >= window_start_ && when < window_start_ + kWindow;
  if (!inside) {
    started_ = true;
    window_start_ = when;
    written_ = 0;
  }
  if (written_ == kBurst) return;
  if (++written_ == kBurst) sentence += "; more failures within this second are not written";
  log(LogLevel::kWarning, sentence);
}

}  // namespace uroce::device
