// SPDX-License-Identifier: BSD-3-Clause
// The state machine of queue pairs: the table, and what a transition does.
#include "transport/qp_state.h"

#include <algorithm>
#include <cerrno>

#include "transport/error_class.h"
#include "transport/reorder.h"
#include "transport/requester.h"

namespace uroce::transport {
namespace {

constexpr uint32_t bit(QpState state) { return 1u << static_cast<unsigned>(state); }
constexpr uint32_t bit(QpType type) { return 1u << static_cast<unsigned>(type); }

constexpr uint32_t kRcOnly = bit(QpType::kRc);
constexpr uint32_t kUcOnly = bit(QpType::kUc);
constexpr uint32_t kUdOnly = bit(QpType::kUd);
constexpr uint32_t kSpecial = bit(QpType::kSmi) | bit(QpType::kGsi);
constexpr uint32_t kDatagrams = kUdOnly | kSpecial;
constexpr uint32_t kXrcIniOnly = bit(QpType::kXrcIni);
constexpr uint32_t kXrcTgtOnly = bit(QpType::kXrcTgt);
constexpr uint32_t kConnected = kRcOnly | kUcOnly | kXrcIniOnly | kXrcTgtOnly;
// Those without, and with, a responder that answers.
constexpr uint32_t kSilent = kUcOnly | kXrcIniOnly;
constexpr uint32_t kAnswering = kRcOnly | kXrcTgtOnly;

// Where a transition may lead; `from` is the index.
constexpr uint32_t kAlways = bit(QpState::kReset) | bit(QpState::kErr);
constexpr uint32_t kNext[] = {
    bit(QpState::kReset) | bit(QpState::kInit),          // RESET
    kAlways | bit(QpState::kInit) | bit(QpState::kRtr),  // INIT
    kAlways | bit(QpState::kRts),                        // RTR
    kAlways | bit(QpState::kRts) | bit(QpState::kSqd),   // RTS
    kAlways | bit(QpState::kRts) | bit(QpState::kSqd),   // SQD
    kAlways | bit(QpState::kRts),                        // SQE
    kAlways,                                             // ERR
};

// What a transition needs and allows beside STATE. A type without a rule: nothing. CUR_STATE is
// allowed only from states that a caller may claim: RTR, RTS, SQD and SQE.
struct Rule {
  QpState from;
  QpState to;
  uint32_t types;
  uint32_t required;
  uint32_t optional;
};

constexpr uint32_t kPathNeeded = kAttrAv | kAttrPathMtu | kAttrDestQpn | kAttrRqPsn;
constexpr uint32_t kPathChange = kAttrAltPath | kAttrAccessFlags | kAttrPathMigState;
constexpr uint32_t kRetries = kAttrTimeout | kAttrRetryCnt | kAttrRnrRetry | kAttrMaxQpRdAtomic;

constexpr Rule kRules[] = {
    {QpState::kReset, QpState::kInit, kUdOnly, kAttrPkeyIndex | kAttrPort | kAttrQkey, 0},
    {QpState::kReset, QpState::kInit, kConnected, kAttrPkeyIndex | kAttrPort | kAttrAccessFlags, 0},
    {QpState::kReset, QpState::kInit, kSpecial, kAttrPkeyIndex | kAttrQkey, 0},

    {QpState::kInit, QpState::kInit, kUdOnly, 0, kAttrPkeyIndex | kAttrPort | kAttrQkey},
    {QpState::kInit, QpState::kInit, kConnected, 0, kAttrPkeyIndex | kAttrPort | kAttrAccessFlags},
    {QpState::kInit, QpState::kInit, kSpecial, 0, kAttrPkeyIndex | kAttrQkey},

    {QpState::kInit, QpState::kRtr, kDatagrams, 0, kAttrPkeyIndex | kAttrQkey},
    {QpState::kInit, QpState::kRtr, kSilent, kPathNeeded,
     kAttrAltPath | kAttrAccessFlags | kAttrPkeyIndex},
    {QpState::kInit, QpState::kRtr, kAnswering,
     kPathNeeded | kAttrMaxDestRdAtomic | kAttrMinRnrTimer,
     kAttrAltPath | kAttrAccessFlags | kAttrPkeyIndex},

    {QpState::kRtr, QpState::kRts, kDatagrams, kAttrSqPsn, kAttrCurState | kAttrQkey},
    {QpState::kRtr, QpState::kRts, kUcOnly, kAttrSqPsn, kAttrCurState | kPathChange},
    {QpState::kRtr, QpState::kRts, kRcOnly, kAttrSqPsn | kRetries,
     kAttrCurState | kPathChange | kAttrMinRnrTimer},
    {QpState::kRtr, QpState::kRts, kXrcIniOnly, kAttrSqPsn | kRetries, kAttrCurState | kPathChange},
    {QpState::kRtr, QpState::kRts, kXrcTgtOnly, kAttrSqPsn | kAttrTimeout,
     kAttrCurState | kPathChange | kAttrMinRnrTimer},

    {QpState::kRts, QpState::kRts, kDatagrams, 0, kAttrCurState | kAttrQkey},
    {QpState::kRts, QpState::kRts, kSilent, 0, kAttrCurState | kPathChange},
    {QpState::kRts, QpState::kRts, kAnswering, 0, kAttrCurState | kPathChange | kAttrMinRnrTimer},

    {QpState::kRts, QpState::kSqd, kDatagrams | kConnected, 0, kAttrEnSqdAsyncNotify},

    {QpState::kSqd, QpState::kRts, kDatagrams, 0, kAttrCurState | kAttrQkey},
    {QpState::kSqd, QpState::kRts, kSilent, 0, kAttrCurState | kPathChange},
    {QpState::kSqd, QpState::kRts, kAnswering, 0, kAttrCurState | kPathChange | kAttrMinRnrTimer},

    {QpState::kSqd, QpState::kSqd, kDatagrams, 0, kAttrPkeyIndex | kAttrQkey},
    {QpState::kSqd, QpState::kSqd, kUcOnly, 0, kAttrAv | kPathChange | kAttrPkeyIndex},
    {QpState::kSqd, QpState::kSqd, kRcOnly, 0,
     kAttrPort | kAttrAv | kRetries | kAttrMaxDestRdAtomic | kPathChange | kAttrPkeyIndex |
         kAttrMinRnrTimer},
    {QpState::kSqd, QpState::kSqd, kXrcIniOnly, 0,
     kAttrPort | kAttrAv | kRetries | kPathChange | kAttrPkeyIndex},
    {QpState::kSqd, QpState::kSqd, kXrcTgtOnly, 0,
     kAttrPort | kAttrAv | kAttrTimeout | kAttrMaxDestRdAtomic | kPathChange | kAttrPkeyIndex |
         kAttrMinRnrTimer},

    {QpState::kSqe, QpState::kRts, kDatagrams, 0, kAttrCurState | kAttrQkey},
    {QpState::kSqe, QpState::kRts, kUcOnly, 0, kAttrCurState | kAttrAccessFlags},
};

// Copies what the mask names; everything that comes from the QP's own state is left out.
void set_attributes(QpContext& qp, const QpAttributes& from, uint32_t mask) {
  QpAttributes& to = qp.attributes;
  const auto named = [mask](uint32_t attribute) { return (mask & attribute) != 0; };
  if (named(kAttrEnSqdAsyncNotify)) to.sqd_async_notify = from.sqd_async_notify;
  if (named(kAttrAccessFlags)) to.access = from.access;
  if (named(kAttrPkeyIndex)) to.pkey_index = from.pkey_index;
  if (named(kAttrPort)) to.port = from.port;
  if (named(kAttrQkey)) to.qkey = from.qkey;
  if (named(kAttrAv)) to.av = from.av;
  if (named(kAttrPathMtu)) {
    to.path_mtu = from.path_mtu;
    qp.mtu_bytes = bytes(from.path_mtu);
  }
  if (named(kAttrTimeout)) to.timeout = from.timeout;
  if (named(kAttrRetryCnt)) {
    to.retry_count = from.retry_count;
    qp.req.retry_left = from.retry_count;
  }
  if (named(kAttrRnrRetry)) {
    to.rnr_retry = from.rnr_retry;
    qp.req.rnr_left = from.rnr_retry;
  }
  if (named(kAttrMaxQpRdAtomic)) to.rd_atomic_max = from.rd_atomic_max;
  if (named(kAttrMinRnrTimer)) to.min_rnr_timer = from.min_rnr_timer;
  if (named(kAttrMaxDestRdAtomic)) to.dest_rd_atomic_max = from.dest_rd_atomic_max;
  if (named(kAttrDestQpn)) to.dest_qpn = from.dest_qpn;
  if (named(kAttrRqPsn)) qp.resp.expected_psn = to.rq_psn = from.rq_psn;
  if (named(kAttrSqPsn)) {
    to.sq_psn = from.sq_psn;
    qp.req.next_psn = qp.req.max_psn = qp.req.unacked_psn = from.sq_psn;
  }
}

}  // namespace

bool modify_allowed(QpState current, QpState next, QpType type, uint32_t mask) {
  const auto from = static_cast<size_t>(current);
  if (from >= std::size(kNext) || (kNext[from] & bit(next)) == 0) return false;
  uint32_t required = 0;
  uint32_t allowed = kAttrState;
  for (const Rule& rule : kRules) {
    if (rule.from != current || rule.to != next || (rule.types & bit(type)) == 0) continue;
    required = rule.required;
    allowed |= rule.required | rule.optional;
  }
  return (mask & required) == required && (mask & ~allowed) == 0;
}

int apply_modify(QpContext& qp, TransportEnv& env, const QpAttributes& attributes, uint32_t mask) {
  // The state that a caller claims must be the true one: a queue pair that failed meanwhile is not
  // brought back by a modify that was meant for the one before.
  if ((mask & kAttrCurState) != 0 && attributes.current_state != qp.state) return -EINVAL;
  const QpState next = (mask & kAttrState) != 0 ? attributes.state : qp.state;
  if (!modify_allowed(qp.state, next, qp.type, mask)) return -EINVAL;
  set_attributes(qp, attributes, mask);
  if (next == QpState::kReset) {
    forget_kept(qp, env);
    reset_queues(qp);
    set_state(qp, next);
  } else if (next == QpState::kErr) {
    if (qp.state != QpState::kErr) move_to_error(qp, env);
  } else if (next != qp.state) {
    set_state(qp, next);
    qp.attributes.sq_draining = next == QpState::kSqd;
    raise_if_drained(qp, env);
  }
  return 0;
}

QpAttributes query_attributes(const QpContext& qp) {
  QpAttributes now = qp.attributes;
  now.state = qp.state;
  now.current_state = qp.state;
  now.rq_psn = qp.resp.expected_psn;
  now.sq_psn = qp.req.max_psn;
  return now;
}

}  // namespace uroce::transport
