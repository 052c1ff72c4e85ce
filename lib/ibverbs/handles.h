// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the pointers that a program of libibverbs holds: rdma-core's structure first,
// then ours, one allocation each.
#ifndef UROCE_IBVERBS_HANDLES_H
#define UROCE_IBVERBS_HANDLES_H

#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "base/types.h"
#include "device/device.h"
#include "device/objects.h"

namespace uroce::ibverbs {

class AsyncQueue;    // events.h: what ibv_get_async_event() takes from
class ChannelQueue;  // events.h: what ibv_get_cq_event() takes from

// A listed device; lives as long as the process. Providers of other hardware look for their table
// of functions right behind the public structure, and must find one that is not theirs.
struct Device : ibv_device {
  const void* provider_operations = nullptr;  // never nullptr
  uint64_t reserved[5] = {};
  uint32_t index = 0;  // in the configuration
};
static_assert(sizeof(ibv_device) == 664 && sizeof(Device) >= 712,
              "rdma-core's private structure is 712 bytes, and libmlx5 reads at offset 664");

// An opened device. The application holds &verbs.context.
struct Context {
  verbs_context verbs{};
  uint32_t index = 0;           // of the device
  AsyncQueue* async = nullptr;  // owned
};

struct Pd : ibv_pd {
  device::Pd* object = nullptr;
  Pd* parent = nullptr;  // of a parent domain: the real one, whose object it shares
  // What is made in a parent domain, and parent domains of it: keeps ibv_dealloc_pd() from it.
  std::atomic<uint32_t> uses{0};
};

struct Mr : ibv_mr {
  device::Mr* object = nullptr;
};

struct Mw : ibv_mw {
  device::Mw* object = nullptr;
};

struct Ah : ibv_ah {
  device::Ah* object = nullptr;
};

struct Xrcd : ibv_xrcd {
  device::Xrcd* object = nullptr;
};

struct Channel : ibv_comp_channel {
  ChannelQueue* queue = nullptr;  // owned
};

// Always the larger structure: ibv_cq is how it begins.
struct Cq : ibv_cq_ex {
  device::CqHandle handle;
  bool keeps_time = false;   // timestamps were asked for
  transport::Cqe current{};  // between start_poll and end_poll
  // Given out by ibv_get_cq_event() and ibv_get_async_event(), under the lock of the queue that
  // they came from. Acknowledged: above, under `mutex`.
  uint32_t comp_events_taken = 0;
  uint32_t async_events_taken = 0;
};

struct Srq : ibv_srq {
  device::SrqHandle handle;
  Xrcd* xrcd = nullptr;
  Cq* cq = nullptr;
  uint32_t events_taken = 0;  // as async_events_taken of a CQ
};

// Always the larger structure: ibv_qp is how it begins.
struct Qp : ibv_qp_ex {
  device::QpHandle handle;
  Xrcd* xrcd = nullptr;       // XRC target
  bool builds = false;        // made with send_ops_flags: the ibv_wr_* calls work
  uint32_t build_first = 0;   // between wr_start and wr_complete: producer index before
  uint32_t build_tail = 0;    // … and behind the last request begun
  int build_error = 0;        // … the first error, positive
  uint32_t events_taken = 0;  // as async_events_taken of a CQ
};

inline Device& of(ibv_device* p) { return *static_cast<Device*>(p); }
inline Context& of(ibv_context* p) {
  return *reinterpret_cast<Context*>(reinterpret_cast<char*>(p) - offsetof(verbs_context, context));
}
inline Pd& of(ibv_pd* p) { return *static_cast<Pd*>(p); }
inline Mr& of(ibv_mr* p) { return *static_cast<Mr*>(p); }
inline Mw& of(ibv_mw* p) { return *static_cast<Mw*>(p); }
inline Ah& of(ibv_ah* p) { return *static_cast<Ah*>(p); }
inline Xrcd& of(ibv_xrcd* p) { return *static_cast<Xrcd*>(p); }
inline Channel& of(ibv_comp_channel* p) { return *static_cast<Channel*>(p); }
inline Cq& of(ibv_cq_ex* p) { return *static_cast<Cq*>(p); }
inline Cq& of(ibv_cq* p) { return of(reinterpret_cast<ibv_cq_ex*>(p)); }
inline Srq& of(ibv_srq* p) { return *static_cast<Srq*>(p); }
inline Qp& of(ibv_qp_ex* p) { return *static_cast<Qp*>(p); }
inline Qp& of(ibv_qp* p) { return of(reinterpret_cast<ibv_qp_ex*>(p)); }
// As the application holds it.
inline ibv_cq* plain(Cq& cq) { return ibv_cq_ex_to_cq(&cq); }
inline ibv_qp* plain(Qp& qp) { return &qp.qp_base; }

inline Gid to_gid(const ibv_gid& raw) {
  Gid gid;
  std::memcpy(gid.bytes.data(), raw.raw, sizeof raw.raw);
  return gid;
}
inline void from_gid(const Gid& gid, ibv_gid& raw) {
  std::memcpy(raw.raw, gid.bytes.data(), sizeof raw.raw);
}

// Most verbs return a positive errno; the ones that make an object, nullptr with errno set.
// `result`: 0 or a negative errno.
inline int positive(int result) { return result < 0 ? -result : result; }
template <typename T>
T* refuse(int result) {
  errno = positive(result);
  return nullptr;
}

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_HANDLES_H
