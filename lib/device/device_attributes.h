// SPDX-License-Identifier: BSD-3-Clause
// What a device is able to do (IBA 11.2.1), as both verbs libraries name it: ib_device_attr and
// ibv_device_attr have the same fields but for a few, which are the faces'.
#ifndef UROCE_DEVICE_DEVICE_ATTRIBUTES_H
#define UROCE_DEVICE_DEVICE_ATTRIBUTES_H

#include <algorithm>
#include <climits>
#include <cstdint>

#include "device/limits.h"
#include "transport/qp_context.h"

namespace uroce::device {

template <typename Attr>
Attr device_attributes(const DeviceLimits& limits, uint32_t qp_max, uint32_t mr_max) {
  constexpr uint32_t kPageSizes = 0xFFFFF000;  // any: the CPU copies
  constexpr uint32_t kNoVendor = 0xFFFFFF;
  constexpr uint8_t kAckDelay = 15;  // 4.096 us * 2^n
  const auto number = [](uint64_t value) {
    return static_cast<int>(std::min<uint64_t>(value, INT_MAX));
  };
  Attr attr{};
  attr.max_mr_size = UINT64_MAX;
  attr.page_size_cap = kPageSizes;
  attr.vendor_id = kNoVendor;
  attr.max_qp = number(qp_max);
  attr.max_qp_wr = number(limits.qp_wr_max);
  attr.max_sge_rd = number(limits.sge_max);
  attr.max_cq = number(limits.cq_max);
  attr.max_cqe = number(limits.cqe_max);
  attr.max_mr = attr.max_mw = number(mr_max);  // windows and regions share the keys
  attr.max_pd = number(limits.pd_max);
  attr.max_qp_rd_atom = attr.max_qp_init_rd_atom = number(transport::kReadAtomicMax);
  attr.max_res_rd_atom = number(uint64_t{qp_max} * transport::kReadAtomicMax);
  attr.max_mcast_grp = number(limits.group_max);
  attr.max_mcast_qp_attach = number(limits.group_qp_max);
  attr.max_total_mcast_qp_attach = number(limits.membership_max);
  attr.max_ah = number(limits.ah_max);
  attr.max_srq = number(limits.srq_max);
  attr.max_srq_wr = number(limits.srq_wr_max);
  attr.max_srq_sge = number(limits.sge_max);
  attr.max_pkeys = 1;
  attr.local_ca_ack_delay = kAckDelay;
  return attr;
}

}  // namespace uroce::device

#endif  // UROCE_DEVICE_DEVICE_ATTRIBUTES_H
