// SPDX-License-Identifier: BSD-3-Clause
// Polling: completions as the engine wrote them become ib_wc.
#include <cerrno>
#include <cstring>

#include "transport/completion_queue.h"
#include "verbs/handles.h"

namespace uroce::verbs {
namespace {

using transport::Cqe;

static_assert(IB_WC_GRH == int{transport::kWcGrh} && IB_WC_WITH_IMM == int{transport::kWcWithImm} &&
              IB_WC_WITH_SMAC == int{transport::kWcWithSmac} &&
              IB_WC_WITH_VLAN == int{transport::kWcWithVlan} &&
              IB_WC_WITH_NETWORK_HDR_TYPE == int{transport::kWcWithNetworkHdrType} &&
              IB_WC_RX_TIME_HARDWARE == int{transport::kWcRxTimeHardware});

void convert(const Cqe& cqe, ib_wc& wc) {
  wc.wr_id = cqe.wr_id;
  wc.status = static_cast<ib_wc_status>(cqe.status);
  wc.opcode = static_cast<ib_wc_opcode>(cqe.opcode);
  wc.vendor_err = 0;
  wc.byte_len = cqe.byte_len;
  wc.qp = static_cast<ib_qp*>(cqe.qp);
  wc.ex.imm_data = cqe.immediate_be;
  wc.src_qp = cqe.src_qpn;
  wc.slid = 0;
  wc.wc_flags = cqe.wc_flags;
  wc.pkey_index = 0;
  wc.sl = cqe.sl;
  wc.dlid_path_bits = 0;
  wc.port_num = 1;
  std::memcpy(wc.smac, cqe.smac, sizeof wc.smac);
  wc.vlan_id = (cqe.wc_flags & transport::kWcWithVlan) != 0 ? cqe.vlan_id : 0xFFFF;
  wc.network_hdr_type = cqe.network_header;
  wc.rx_time_ns = static_cast<__u64>(cqe.arrival_ns);
}

}  // namespace
}  // namespace uroce::verbs

using namespace uroce;
using namespace uroce::verbs;

int ib_poll_cq(ib_cq* cq, int num_entries, ib_wc* wc) {
  if (num_entries < 0) return -EINVAL;
  uroce::device::CqHandle& handle = of(cq).handle;
  const uroce::device::SpinGuard guard(handle.poll_lock, handle.exclusive);
  const auto wanted = static_cast<uint32_t>(num_entries);
  return static_cast<int>(
      transport::cq_poll(*handle.queue, wanted, [&wc](const Cqe& cqe) { convert(cqe, *wc++); }));
}
