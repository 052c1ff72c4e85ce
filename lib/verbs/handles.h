// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the pointers that applications hold: the C structure first, then the device's
// handle, one allocation each.
#ifndef UROCE_VERBS_HANDLES_H
#define UROCE_VERBS_HANDLES_H

#include <uroce/ib_verbs.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "device/objects.h"
#include "device/xrc_targets.h"
#include "verbs/object_store.h"
#include "verbs/registered_memory.h"

namespace uroce::verbs {

struct Device : ib_device {
  device::Device* object = nullptr;
  std::mutex handlers_lock;
  ib_event_handler* handlers = nullptr;  // newest first
  ObjectStore objects;                   // Pd … Qp

  std::mutex clients_lock;  // all below
  bool announced = false;   // clients know of it, and it may be held
  uint32_t references = 0;
  std::condition_variable references_gone;
  std::map<const ib_client*, void*> client_data;  // of the clients that want it
};

struct Pd : ib_pd {
  device::Pd* object = nullptr;
};

struct Mr : ib_mr {
  device::Mr* object = nullptr;
  // Of ib_alloc_mr(): what ib_map_mr_sg() noted.
  __u32 pieces_max = 0;
  __u8* mapped = nullptr;
  bool writable = false;
  // Of ib_alloc_mr_integrity().
  __u32 tuple_pieces_max = 0;
  const __u8* tuples = nullptr;  // nullptr: between the blocks
  ib_sig_attrs signature{};
  RegisteredMemory::Hold registered;  // of ib_reg_user_mr()
};

// Pieces of memory that continue one another.
struct MappedPieces {
  int count = 0;  // or a negative errno, and then nothing else
  __u64 start = 0;
  __u64 bytes = 0;
  bool writable = false;
};
// The first pieces of the list that are one range, which begins *offset bytes into the first
// (nullptr: 0). -EINVAL, -EFAULT: as ib_map_mr_sg().
MappedPieces map_pieces(const scatterlist* sg, int count, const unsigned int* offset);

struct Mw : ib_mw {
  device::Mw* object = nullptr;
};

struct Ah : ib_ah {
  device::Ah* object = nullptr;
};

struct Cq : ib_cq {
  device::CqHandle handle;
};

struct Qp : ib_qp {
  device::QpHandle handle;
};

struct Srq : ib_srq {
  device::SrqHandle handle;
};

struct Xrcd : ib_xrcd {
  device::Xrcd* object = nullptr;
  device::XrcTargets<Qp> targets;
};

inline Device& of(ib_device* p) { return *static_cast<Device*>(p); }
inline Pd& of(ib_pd* p) { return *static_cast<Pd*>(p); }
inline Mr& of(ib_mr* p) { return *static_cast<Mr*>(p); }
inline Mw& of(ib_mw* p) { return *static_cast<Mw*>(p); }
inline Ah& of(ib_ah* p) { return *static_cast<Ah*>(p); }
inline Cq& of(ib_cq* p) { return *static_cast<Cq*>(p); }
inline Srq& of(ib_srq* p) { return *static_cast<Srq*>(p); }
inline Qp& of(ib_qp* p) { return *static_cast<Qp*>(p); }

inline Xrcd& of(ib_xrcd* p) { return *static_cast<Xrcd*>(p); }

// The one behind an XRC target's handle; else the queue pair itself.
inline Qp& real_of(const ib_qp& qp) { return of(qp.real_qp); }

inline device::Device& device_of(const ib_qp& qp) { return *of(qp.device).object; }
inline device::Device& device_of(const ib_pd& pd) { return *of(pd.device).object; }

inline Gid to_gid(const ib_gid& raw) {
  Gid gid;
  std::memcpy(gid.bytes.data(), raw.raw, sizeof raw.raw);
  return gid;
}

inline void from_gid(const Gid& gid, ib_gid& raw) {
  std::memcpy(raw.raw, gid.bytes.data(), sizeof raw.raw);
}

template <typename T>
T* error_pointer(int error) {
  return static_cast<T*>(uroce_err_ptr(error));
}

// Between rdma_ah_attr and what the device calls a path. -EINVAL: an attribute type that is not
// RoCE's (UNDEFINED counts as RoCE).
int to_path(const rdma_ah_attr& attr, device::AhAttributes& path);
void from_path(const device::AhAttributes& path, rdma_ah_attr& attr);

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_HANDLES_H
