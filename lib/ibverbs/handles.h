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

struct Dm;
struct XrcDomain;  // xrc.cc

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
  // Queues and queue pairs of it that are left: their events go to `async`.
  std::atomic<uint32_t> objects{0};
};

struct Td : ibv_td {
  std::atomic<uint32_t> uses{0};  // parent domains of it
};

struct Pd : ibv_pd {
  device::Pd* object = nullptr;
  Pd* parent = nullptr;  // of a parent domain: the one whose object it shares
  Td* td = nullptr;      // of a parent domain, where it has one
  // What is made in it, and parent domains of it: keeps ibv_dealloc_pd() from it.
  std::atomic<uint32_t> uses{0};
};

struct Mr : ibv_mr {
  device::Mr* object = nullptr;
  Dm* dm = nullptr;  // whose memory it is; nullptr: the application's
};

// Device memory: a buffer of this process.
struct Dm : ibv_dm {
  uint8_t* bytes = nullptr;
  size_t length = 0;
  std::atomic<uint32_t> uses{0};  // regions of it
};

struct Mw : ibv_mw {
  device::Mw* object = nullptr;
};

struct Ah : ibv_ah {
  device::Ah* object = nullptr;
};

struct Xrcd : ibv_xrcd {
  device::Xrcd* object = nullptr;
  XrcDomain* domain = nullptr;    // that may be open more than once
  std::atomic<uint32_t> uses{0};  // handles of targets, and shared receive queues
};

struct Channel : ibv_comp_channel {
  ChannelQueue* queue = nullptr;  // owned
};

// Always the larger structure: ibv_cq is how it begins.
struct Cq : ibv_cq_ex {
  device::CqHandle handle;
  Pd* parent_domain = nullptr;  // that it was made in, if in any
  bool keeps_time = false;      // timestamps were asked for
  transport::Cqe current{};     // between start_poll and end_poll
  // Given out by ibv_get_cq_event() and ibv_get_async_event(), under the lock of the queue that
  // they came from. Acknowledged: above, under `mutex`.
  uint32_t comp_events_taken = 0;
  uint32_t async_events_taken = 0;
};

struct Srq : ibv_srq {
  device::SrqHandle handle;
  Xrcd* xrcd = nullptr;       // of XRC
  uint32_t events_taken = 0;  // as async_events_taken of a CQ
};

// Always the larger structure: ibv_qp is how it begins.
struct Qp : ibv_qp_ex {
  device::QpHandle handle;
  Xrcd* xrcd = nullptr;         // a handle of an XRC target: by which domain it is open
  Qp* real = nullptr;           // … and the target
  XrcDomain* domain = nullptr;  // a target, which nobody holds
  uint32_t events_taken = 0;    // as async_events_taken of a CQ
  bool builds = false;          // made with send_ops_flags: the ibv_wr_* calls work
  uint64_t build_opcodes = 0;   // … for these: bits of transport::WrOpcode
  // Between wr_start and wr_complete:
  uint32_t build_first = 0;         // producer index before
  uint32_t build_tail = 0;          // … behind the last request begun
  bool build_lacks_target = false;  // it has no address or shared receive queue yet
  int build_error = 0;              // the first error, positive
};

inline Device& of(ibv_device* p) { return *static_cast<Device*>(p); }
inline Context& of(ibv_context* p) {
  return *reinterpret_cast<Context*>(reinterpret_cast<char*>(p) - offsetof(verbs_context, context));
}
inline Td& of(ibv_td* p) { return *static_cast<Td*>(p); }
inline Pd& of(ibv_pd* p) { return *static_cast<Pd*>(p); }
inline Mr& of(ibv_mr* p) { return *static_cast<Mr*>(p); }
inline Dm& of(ibv_dm* p) { return *static_cast<Dm*>(p); }
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
