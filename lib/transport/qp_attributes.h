// SPDX-License-Identifier: BSD-3-Clause
// Queue pair types, states, attributes and attribute masks, with the numbers of ib_verbs.h.
#ifndef UROCE_TRANSPORT_QP_ATTRIBUTES_H
#define UROCE_TRANSPORT_QP_ATTRIBUTES_H

#include <cstdint>

#include "base/types.h"
#include "transport/address_vector.h"

namespace uroce::transport {

enum class QpType : uint8_t {
  kSmi = 0,
  kGsi = 1,
  kRc = 2,
  kUc = 3,
  kUd = 4,
  kXrcIni = 9,   // sends requests, takes no receive work
  kXrcTgt = 10,  // answers them, with the receive work of XRC shared receive queues
};

// Reliable: acknowledged, with retries; RC and both ends of XRC.
constexpr bool is_reliable(QpType type) {
  return type == QpType::kRc || type == QpType::kXrcIni || type == QpType::kXrcTgt;
}
// Connected: with one other end.
constexpr bool is_connected(QpType type) { return is_reliable(type) || type == QpType::kUc; }
// Whether a reliable queue pair of this type executes requests, and owes answers.
constexpr bool answers_requests(QpType type) {
  return type == QpType::kRc || type == QpType::kXrcTgt;
}

enum class QpState : uint8_t {
  kReset = 0,
  kInit = 1,
  kRtr = 2,
  kRts = 3,
  kSqd = 4,
  kSqe = 5,
  kErr = 6,
};

// ib_qp_attr_mask.
enum QpAttrMask : uint32_t {
  kAttrState = 1u << 0,
  kAttrCurState = 1u << 1,
  kAttrEnSqdAsyncNotify = 1u << 2,
  kAttrAccessFlags = 1u << 3,
  kAttrPkeyIndex = 1u << 4,
  kAttrPort = 1u << 5,
  kAttrQkey = 1u << 6,
  kAttrAv = 1u << 7,
  kAttrPathMtu = 1u << 8,
  kAttrTimeout = 1u << 9,
  kAttrRetryCnt = 1u << 10,
  kAttrRnrRetry = 1u << 11,
  kAttrRqPsn = 1u << 12,
  kAttrMaxQpRdAtomic = 1u << 13,
  kAttrAltPath = 1u << 14,
  kAttrMinRnrTimer = 1u << 15,
  kAttrSqPsn = 1u << 16,
  kAttrMaxDestRdAtomic = 1u << 17,
  kAttrPathMigState = 1u << 18,
  kAttrCap = 1u << 19,
  kAttrDestQpn = 1u << 20,
};

// What modify sets and query returns. The device has validated ranges and resolved the address
// vector before an engine sees it.
struct QpAttributes {
  QpState state = QpState::kReset;
  QpState current_state = QpState::kReset;
  AddressVector av;
  PathMtu path_mtu = PathMtu::k256;
  Psn rq_psn;  // next expected
  Psn sq_psn;  // next to send
  Qpn dest_qpn;
  uint32_t qkey = 0;
  uint32_t access = 0;             // memory::Access bits that requests may use
  uint8_t timeout = 0;             // 4.096 us * 2^n, 0: wait for ever
  uint8_t retry_count = 0;         // 0 … 7
  uint8_t rnr_retry = 0;           // 0 … 7, 7: endless
  uint8_t min_rnr_timer = 0;       // RNR code 0 … 31
  uint8_t rd_atomic_max = 0;       // outstanding READs and atomics as requester
  uint8_t dest_rd_atomic_max = 0;  // as responder
  uint8_t pkey_index = 0;
  uint8_t port = 1;
  bool sqd_async_notify = false;
  bool sq_draining = false;  // query only
};

// Granted capabilities of a queue pair.
struct QpCapabilities {
  uint32_t send_wr_max = 0;
  uint32_t recv_wr_max = 0;
  uint32_t send_sge_max = 0;
  uint32_t recv_sge_max = 0;
  uint32_t inline_bytes_max = 0;
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_QP_ATTRIBUTES_H
