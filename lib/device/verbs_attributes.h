// SPDX-License-Identifier: BSD-3-Clause
// Attributes of queue pairs as both verbs libraries name them: ib_qp_attr and ibv_qp_attr have the
// same fields, and ib_qp_cap and ibv_qp_cap. Their numbers of states, types and mask bits are the
// transport's (IBA 10.3.1).
#ifndef UROCE_DEVICE_VERBS_ATTRIBUTES_H
#define UROCE_DEVICE_VERBS_ATTRIBUTES_H

#include <cstdint>

#include "transport/qp_attributes.h"

namespace uroce::device {

template <typename Attr>
transport::QpAttributes to_attributes(const Attr& attr) {
  transport::QpAttributes to;
  to.state = static_cast<transport::QpState>(attr.qp_state);
  to.current_state = static_cast<transport::QpState>(attr.cur_qp_state);
  to.path_mtu = static_cast<PathMtu>(attr.path_mtu);
  to.rq_psn = Psn(attr.rq_psn);
  to.sq_psn = Psn(attr.sq_psn);
  to.dest_qpn = Qpn(attr.dest_qp_num);
  to.qkey = attr.qkey;
  to.access = static_cast<uint32_t>(attr.qp_access_flags);
  to.timeout = attr.timeout;
  to.retry_count = attr.retry_cnt;
  to.rnr_retry = attr.rnr_retry;
  to.min_rnr_timer = attr.min_rnr_timer;
  to.rd_atomic_max = attr.max_rd_atomic;
  to.dest_rd_atomic_max = attr.max_dest_rd_atomic;
  to.pkey_index = static_cast<uint8_t>(attr.pkey_index);
  to.port = static_cast<uint8_t>(attr.port_num);
  to.sqd_async_notify = attr.en_sqd_async_notify != 0;
  return to;
}

template <typename Attr>
void from_attributes(const transport::QpAttributes& from, Attr& attr) {
  attr.qp_state = static_cast<decltype(attr.qp_state)>(from.state);
  attr.cur_qp_state = attr.qp_state;
  attr.path_mtu = static_cast<decltype(attr.path_mtu)>(from.path_mtu);
  attr.rq_psn = from.rq_psn.value();
  attr.sq_psn = from.sq_psn.value();
  attr.dest_qp_num = from.dest_qpn.value();
  attr.qkey = from.qkey;
  attr.qp_access_flags = static_cast<decltype(attr.qp_access_flags)>(from.access);
  attr.timeout = from.timeout;
  attr.retry_cnt = from.retry_count;
  attr.rnr_retry = from.rnr_retry;
  attr.min_rnr_timer = from.min_rnr_timer;
  attr.max_rd_atomic = from.rd_atomic_max;
  attr.max_dest_rd_atomic = from.dest_rd_atomic_max;
  attr.pkey_index = from.pkey_index;
  attr.port_num = from.port;
  attr.en_sqd_async_notify = from.sqd_async_notify ? 1 : 0;
  attr.sq_draining = from.sq_draining ? 1 : 0;
}

// Not so: values that the mask names and the transport's narrower fields would hide from its
// checks.
template <typename Attr>
bool fits(const Attr& attr, uint32_t mask) {
  using namespace transport;
  const auto is_more = [mask](uint32_t bit, auto value, uint32_t most) {
    return (mask & bit) != 0 && static_cast<uint32_t>(value) > most;
  };
  constexpr auto kLast = static_cast<uint32_t>(QpState::kErr);
  return !is_more(kAttrState, attr.qp_state, kLast) &&
         !is_more(kAttrCurState, attr.cur_qp_state, kLast) &&
         !is_more(kAttrPathMtu, attr.path_mtu, static_cast<uint32_t>(PathMtu::k4096)) &&
         !is_more(kAttrPkeyIndex, attr.pkey_index, 0xFF) &&
         !is_more(kAttrPort, attr.port_num, 0xFF);
}

template <typename Cap>
transport::QpCapabilities to_capabilities(const Cap& cap) {
  return {.send_wr_max = cap.max_send_wr,
          .recv_wr_max = cap.max_recv_wr,
          .send_sge_max = cap.max_send_sge,
          .recv_sge_max = cap.max_recv_sge,
          .inline_bytes_max = cap.max_inline_data};
}

template <typename Cap>
Cap from_capabilities(const transport::QpCapabilities& from) {
  Cap cap{};
  cap.max_send_wr = from.send_wr_max;
  cap.max_recv_wr = from.recv_wr_max;
  cap.max_send_sge = from.send_sge_max;
  cap.max_recv_sge = from.recv_sge_max;
  cap.max_inline_data = from.inline_bytes_max;
  return cap;
}

}  // namespace uroce::device

#endif  // UROCE_DEVICE_VERBS_ATTRIBUTES_H
