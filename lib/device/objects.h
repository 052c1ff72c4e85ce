// SPDX-License-Identifier: BSD-3-Clause
// The objects of a device, and the handles through which a face posts and polls.
//
// A device object knows no face. A face's handle is one allocation: the face's C structure first,
// then a QpHandle or CqHandle by value, so that posting and polling are one cast away from the
// rings. The objects themselves are the control path's bookkeeping, under the device's lock.
#ifndef UROCE_DEVICE_OBJECTS_H
#define UROCE_DEVICE_OBJECTS_H

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/types.h"
#include "device/address_cell.h"
#include "device/path.h"
#include "device/spin_lock.h"
#include "engine/doorbell.h"
#include "memory/region.h"
#include "transport/completion_queue.h"
#include "transport/qp_attributes.h"
#include "transport/qp_context.h"
#include "transport/shared_receive_queue.h"

namespace uroce::device {

struct CqHandle;
struct QpHandle;
struct SrqHandle;

struct Pd {
  uint32_t number = 0;   // never 0, never reused
  Key dma_key;           // L_Key of the whole address space, local rights only
  bool retired = false;  // as in Mr
  uint32_t use_count = 0;
};

struct Mr {
  Pd* pd = nullptr;
  Key key;
  uint32_t access = 0;  // as asked for
  memory::Region region;
  bool retired = false;  // its key is unpublished; the grace period was not waited for to the end
  bool fast = false;     // registered by work requests: `key` is only the first it goes by
};

struct Mw {
  Pd* pd = nullptr;
  Key key;  // the first it goes by
  bool retired = false;
};

struct Ah {
  Pd* pd = nullptr;
  AhAttributes attributes;
  AddressCell vector;
};

struct Cq {
  CqHandle* handle = nullptr;
  uint32_t use_count = 0;  // a QP that uses it for both directions counts twice
  bool busy = false;       // a resize or destroy is under way
  std::shared_ptr<void> memory;
  // Rings of lanes since it was resized: one, and those of resizes that did not come to their end.
  std::vector<std::shared_ptr<void>> rings;
};

// An XRC domain: which target queue pairs may take receives from which shared receive queues. It
// lives on one engine, and so do all of them.
struct Xrcd {
  uint32_t number = 0;  // never 0, never reused
  uint32_t engine = 0;
  uint32_t use_count = 0;
};

// One ring of a shared receive queue with the memory that it lies in.
struct SrqMemory {
  transport::SrqRing* ring = nullptr;
  std::shared_ptr<void> memory;
};

struct Srq {
  SrqHandle* handle = nullptr;
  Pd* pd = nullptr;
  Xrcd* xrcd = nullptr;  // XRC, with a CQ of its own; else nullptr
  Cq* cq = nullptr;
  uint32_t engine = 0;  // also of every queue pair that uses it
  uint32_t wr_max = 0;
  uint32_t use_count = 0;
  bool busy = false;  // a change or destroy is under way
  transport::SharedReceiveQueue queue;
  std::vector<SrqMemory> rings;  // the oldest that the engine may still look at first
};

struct Qp {
  QpHandle* handle = nullptr;
  Pd* pd = nullptr;       // XRC target: none
  Cq* send_cq = nullptr;  // XRC target: none
  Cq* recv_cq = nullptr;  // XRC: none
  Srq* srq = nullptr;
  Xrcd* xrcd = nullptr;  // XRC target
  void* user = nullptr;
  transport::QpType type = transport::QpType::kRc;
  Qpn qpn;
  uint32_t engine = 0;
  transport::QpCapabilities capabilities;
  bool signal_all = false;
  bool block_multicast_loopback = false;
  bool busy = false;    // a modify or destroy is under way
  bool ending = false;  // a destroy was not seen to be done: only another one is left
  uint32_t dest_qpn = 0;
  bool has_path = false;
  AhAttributes path;                    // of the last successful modify
  std::map<Gid, std::set<Gid>> groups;  // memberships, with their sources; none: every source
  std::shared_ptr<void> memory;
};

// What post_send and post_recv need, and nothing else.
struct QpHandle {
  transport::QpQueues* queues = nullptr;
  engine::Doorbells* doorbells = nullptr;
  uint32_t slot = 0;  // the doorbell's number
  Qpn qpn;
  transport::QpType type = transport::QpType::kRc;
  bool exclusive = false;        // one thread does everything: no locks
  bool shares_receives = false;  // no receives are posted here: the srq takes them, or XRC's do
  transport::QpCapabilities capabilities;
  const Pd* pd = nullptr;
  const std::atomic<uint32_t>* port_mtu_bytes = nullptr;  // UD messages are at most this long
  SpinLock send_lock;
  SpinLock recv_lock;
  Qp* object = nullptr;
};

// Of a second handle onto a queue pair that takes no posts: what posting looks at, so that it is
// refused safely.
inline void share_handle(const QpHandle& real, QpHandle& handle) {
  handle.queues = real.queues;
  handle.doorbells = real.doorbells;
  handle.slot = real.slot;
  handle.qpn = real.qpn;
  handle.type = real.type;
  handle.exclusive = real.exclusive;
  handle.shares_receives = real.shares_receives;
  handle.object = real.object;
}

// What posting to a shared receive queue needs.
struct SrqHandle {
  transport::SrqPoster poster;
  uint32_t sge_max = 0;
  bool exclusive = false;
  SpinLock post_lock;
  Srq* object = nullptr;
};

struct CqHandle {
  transport::CompletionQueue* queue = nullptr;
  bool exclusive = false;
  uint32_t depth = 0;  // entries of each engine
  SpinLock poll_lock;
  Cq* object = nullptr;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_OBJECTS_H
