// SPDX-License-Identifier: BSD-3-Clause
// Extended completion queues: one completion at a time, of which the program reads what it wants.
//
// The completion is copied out of the ring by start_poll and next_poll. The queue is locked from a
// start_poll that found one until end_poll.
#include <cerrno>
#include <chrono>

#include "ibverbs/completion_form.h"
#include "ibverbs/data_path.h"
#include "ibverbs/runtime.h"
#include "transport/completion_queue.h"

namespace uroce::ibverbs {
namespace {

int64_t device_ns(const Cq& cq) {
  const device::Device* const device = runtime().running(of(cq.context).index);
  return device != nullptr ? device->now().time_since_epoch().count() : 0;
}

// Takes the next one, the queue is locked. 0 or ENOENT.
int take(Cq& cq) {
  const uint32_t taken = transport::cq_poll(*cq.handle.queue, 1,
                                            [&cq](const transport::Cqe& cqe) { cq.current = cqe; });
  if (taken == 0) return ENOENT;
  cq.wr_id = cq.current.wr_id;
  cq.status = static_cast<ibv_wc_status>(cq.current.status);
  // Only packets are stamped: what completes a request of one's own is seen now.
  if (cq.keeps_time && cq.current.arrival_ns == 0) cq.current.arrival_ns = device_ns(cq);
  return 0;
}

void lock(Cq& cq) {
  if (!cq.handle.exclusive) cq.handle.poll_lock.lock();
}
void unlock(Cq& cq) {
  if (!cq.handle.exclusive) cq.handle.poll_lock.unlock();
}

// 0, and the queue stays locked; or ENOENT.
int lock_and_take(Cq& cq) {
  lock(cq);
  const int error = take(cq);
  if (error != 0) unlock(cq);
  return error;
}

int start_poll(ibv_cq_ex* current, ibv_poll_cq_attr* attr) {
  if (attr != nullptr && attr->comp_mask != 0) return EINVAL;
  if (has_lost_engines()) return EIO;
  if (lock_and_take(of(current)) == 0) return 0;
  runtime().drive();
  return lock_and_take(of(current));
}

int next_poll(ibv_cq_ex* current) { return take(of(current)); }

void end_poll(ibv_cq_ex* current) { unlock(of(current)); }

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) {
  return static_cast<ibv_wc_opcode>(of(cq).current.opcode);
}
uint32_t read_vendor_err(ibv_cq_ex* /*cq*/) { return 0; }
uint32_t read_byte_len(ibv_cq_ex* cq) { return of(cq).current.byte_len; }
__be32 read_imm_data(ibv_cq_ex* cq) { return of(cq).current.immediate_be; }
uint32_t read_qp_num(ibv_cq_ex* cq) { return of(cq).current.qpn; }
uint32_t read_src_qp(ibv_cq_ex* cq) { return of(cq).current.src_qpn; }
unsigned int read_wc_flags(ibv_cq_ex* cq) { return wc_flags_of(of(cq).current); }
uint32_t read_slid(ibv_cq_ex* /*cq*/) { return 0; }
uint8_t read_sl(ibv_cq_ex* cq) { return service_level_of(of(cq).current); }
uint8_t read_dlid_path_bits(ibv_cq_ex* /*cq*/) { return 0; }

// Nanoseconds of the device's clock.
uint64_t read_completion_ts(ibv_cq_ex* cq) {
  return static_cast<uint64_t>(of(cq).current.arrival_ns);
}

// How long ago it was by the device's clock, before now by the wall's.
uint64_t read_completion_wallclock_ns(ibv_cq_ex* cq) {
  const auto wall = std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch());
  return static_cast<uint64_t>(wall.count() - (device_ns(of(cq)) - of(cq).current.arrival_ns));
}

uint16_t read_cvlan(ibv_cq_ex* cq) {
  const transport::Cqe& cqe = of(cq).current;
  return (cqe.wc_flags & transport::kWcWithVlan) != 0 ? cqe.vlan_id : uint16_t{0};
}

}  // namespace

void install_readers(Cq& cq, uint64_t wc_flags) {
  cq.keeps_time = (wc_flags & (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                               IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)) != 0;
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_opcode = read_opcode;
  cq.read_vendor_err = read_vendor_err;
  cq.read_byte_len = read_byte_len;
  cq.read_imm_data = read_imm_data;
  cq.read_qp_num = read_qp_num;
  cq.read_src_qp = read_src_qp;
  cq.read_wc_flags = read_wc_flags;
  cq.read_slid = read_slid;
  cq.read_sl = read_sl;
  cq.read_dlid_path_bits = read_dlid_path_bits;
  cq.read_completion_ts = read_completion_ts;
  cq.read_completion_wallclock_ns = read_completion_wallclock_ns;
  cq.read_cvlan = read_cvlan;
}

}  // namespace uroce::ibverbs
