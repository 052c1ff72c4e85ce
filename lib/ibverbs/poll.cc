// SPDX-License-Identifier: BSD-3-Clause
// Polling and arming: completions as the engine wrote them become ibv_wc.
#include <cerrno>

#include "ibverbs/completion_form.h"
#include "ibverbs/data_path.h"
#include "ibverbs/runtime.h"
#include "transport/completion_queue.h"

namespace uroce::ibverbs {
namespace {

void convert(const transport::Cqe& cqe, ibv_wc& wc) {
  wc.wr_id = cqe.wr_id;
  wc.status = static_cast<ibv_wc_status>(cqe.status);
  wc.opcode = static_cast<ibv_wc_opcode>(cqe.opcode);
  wc.vendor_err = 0;
  wc.byte_len = cqe.byte_len;
  wc.imm_data = cqe.immediate_be;
  wc.qp_num = cqe.qpn;
  wc.src_qp = cqe.src_qpn;
  wc.wc_flags = wc_flags_of(cqe);
  wc.pkey_index = 0;
  wc.slid = 0;
  wc.sl = service_level_of(cqe);
  wc.dlid_path_bits = 0;
}

int take(device::CqHandle& handle, uint32_t count, ibv_wc* wc) {
  const device::SpinGuard guard(handle.poll_lock, handle.exclusive);
  return static_cast<int>(transport::cq_poll(
      *handle.queue, count, [&wc](const transport::Cqe& cqe) { convert(cqe, *wc++); }));
}

}  // namespace

int poll_cq(ibv_cq* cq, int num_entries, ibv_wc* wc) {
  if (num_entries <= 0) return 0;
  if (has_lost_engines()) return -EIO;
  device::CqHandle& handle = of(cq).handle;
  const auto wanted = static_cast<uint32_t>(num_entries);
  if (const int taken = take(handle, wanted, wc); taken != 0) return taken;
  runtime().drive();
  return take(handle, wanted, wc);
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  if (has_lost_engines()) return EIO;
  device::CqHandle& handle = of(cq).handle;
  const device::SpinGuard guard(handle.poll_lock, handle.exclusive);
  transport::cq_arm(*handle.queue, solicited_only != 0 ? transport::CqArm::kSolicited
                                                       : transport::CqArm::kNextComp);
  return 0;
}

}  // namespace uroce::ibverbs
