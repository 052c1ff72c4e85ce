// SPDX-License-Identifier: BSD-3-Clause
// The RDMA device: its objects and their lifetime, its port's attributes, its GID table. Turns
// control calls into commands for the engine that owns the queue pair.
//
// Results of all calls are 0 or a negative errno, since every caller is the face of a verbs
// library, where that is the language.
//
// Any thread may call. One lock orders all calls; it is given up while a call waits for the network
// (resolving an address) or runs turns of a loop, so that handlers may make control calls. Posting
// and polling do not come here at all: they use the handles.
#ifndef UROCE_DEVICE_DEVICE_H
#define UROCE_DEVICE_DEVICE_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id_source.h"
#include "device/engine_call.h"
#include "device/failure_log.h"
#include "device/fair_lock.h"
#include "device/gid_table.h"
#include "device/group_registry.h"
#include "device/key_allocator.h"
#include "device/limits.h"
#include "device/objects.h"
#include "device/port_ops.h"
#include "device/qpn_allocator.h"
#include "engine/engine.h"
#include "transport/event.h"
#include "wire/drop.h"

namespace uroce::device {

// Everything pointed to outlives the device.
struct DeviceSetup {
  std::string name;
  std::span<engine::EngineSeat* const> seats;  // of the port's queues, in order
  engine::EngineDriver driver;
  engine::DeviceShared* shared = nullptr;
  PortOps* port = nullptr;
  IdSource* ids = nullptr;  // used under this device's lock only
  DeviceLimits limits{};
  Gid gateway_ipv4;  // zero: none
  Gid gateway_ipv6;
  bool privileged_qkey = false;  // users may set Q_Keys with bit 31
};

// Type XRC_TGT has an xrcd and nothing else that is a pointer; XRC_INI no recv_cq.
struct QpRequest {
  transport::QpType type = transport::QpType::kRc;
  transport::QpCapabilities capabilities{};
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  Xrcd* xrcd = nullptr;
  Srq* srq = nullptr;  // then the capabilities for receiving are not looked at, and 0 afterwards
  bool signal_all = false;
  bool block_multicast_loopback = false;
  void* user = nullptr;  // the face's handle: in completions and events
};

struct SrqRequest {
  Xrcd* xrcd = nullptr;  // XRC, then with `cq`; else both nullptr
  Cq* cq = nullptr;
  uint32_t wr_max = 0;
  uint32_t sge_max = 0;
  uint32_t limit = 0;
  void* user = nullptr;  // the face's handle: in events
};

struct SrqState {
  uint32_t wr_max = 0;
  uint32_t sge_max = 0;
  uint32_t limit = 0;  // armed; 0: not
};

// attributes.av is not looked at; `path` takes its place with kAttrAv.
struct QpChange {
  uint32_t mask = 0;  // transport::QpAttrMask
  transport::QpAttributes attributes;
  AhAttributes path;
};

// A queue pair for display.
struct QpSummary {
  Qpn qpn;
  transport::QpType type = transport::QpType::kRc;
  uint32_t engine = 0;
  transport::QpAttributes attributes;  // as query gives them
  bool has_path = false;
  Gid peer;  // with has_path
  std::vector<Gid> groups;
  uint64_t recv_queue_empty = 0;
  uint64_t qkey_violations = 0;
  uint64_t pkey_violations = 0;
};

// A group for display.
struct GroupSummary {
  Gid group;
  MacAddress mac;
  std::vector<Qpn> members;              // ascending
  std::vector<uint32_t> member_sources;  // of each of them: how many sources; 0: every one
  std::vector<Gid> sources;              // of all members by source together; ascending
};

struct PortState {
  PortInfo info;
  PathMtu active_mtu = PathMtu::k256;
  uint64_t pkey_violations = 0;
  uint64_t qkey_violations = 0;
};

// What re-registration changes; the rest stays.
struct MemoryChange {
  bool translation = false;  // start, length, iova
  uint64_t start = 0;
  uint64_t length = 0;
  uint64_t iova = 0;
  bool rights = false;  // access
  uint32_t access = 0;
  Pd* pd = nullptr;  // nullptr: stays
};

// What prefetch_memory() does to the pages: brings them in to be read, or to be written, or only
// looks at the key.
enum class Prefetch : uint8_t { kRead, kWrite, kNothing };

// Called by a destroy when nothing refuses it any more, but before anything has happened, and
// without a lock held: a face sees to it that no handler of the object runs. May be empty.
using Quiesce = std::function<void()>;

// Objects of one kind, which live as long as they are in here.
template <typename T>
using Objects = std::unordered_map<const T*, std::unique_ptr<T>>;

class Device {
 public:
  explicit Device(const DeviceSetup& setup);
  // No engine is driven any more and no call is under way. Objects that are left go with it, the
  // memory of their queues too; the handles, which are the faces', are not touched.
  ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Once, when the engines are driven (the workers run): reads the port and tells the engines its
  // addresses. -EINVAL: the port's frames cannot carry the smallest path MTU.
  int start();
  // Before the engines stop: refuses new objects (-ENODEV), ends all memberships (filters closed,
  // groups left) and moves every queue pair to ERR, so that posted work is flushed. An own port
  // gives up its addresses: nobody is answered any more. Objects may still be destroyed afterwards
  // while the engines are driven.
  int shut_down();

  // Port events (PORT_ACTIVE, PORT_ERR, GID_CHANGE) go to this function, without a lock held, on
  // the thread of the call that found them. Set before start().
  using EventSink = void (*)(void* context, transport::EventType event);
  void set_event_sink(EventSink sink, void* context);

  // The control thread's entry, called now and then: looks at the port's link and frame size. A
  // link that went and came back since is told as both.
  void refresh_link();
  // Reads the port's addresses again; returns an error of the engines, after which it is to be
  // called once more.
  int rescan_addresses();

  const std::string& name() const { return name_; }
  const DeviceLimits& limits() const { return limits_; }
  bool privileged_qkey() const { return privileged_qkey_; }
  uint32_t qp_max() const;
  uint32_t mr_max() const;
  uint32_t engine_count() const { return static_cast<uint32_t>(caller_.engine_count()); }
  // For any thread at any time.
  Time now() const { return caller_.now(); }
  const transport::TransportCounters& counters(uint32_t engine) {
    return caller_.seat(engine).engine().counters();
  }
  PortState port_state();
  // Entry of the GID table: -EINVAL, -ENODATA. Index of an address: -ENOENT.
  int query_gid(int64_t index, Gid& gid);
  int find_gid(const Gid& gid);

  // Protection domains and memory. Destroying a PD that is in use: -EBUSY.
  int create_pd(Pd*& pd);
  int destroy_pd(Pd& pd);
  // [start, start + length) of this process under the addresses `iova` … (zero-based: under 0 …);
  // `access` is checked, and the memory too unless its pages are to come on demand.
  int register_memory(Pd& pd, uint64_t start, uint64_t length, uint64_t iova, uint32_t access,
                      Mr*& mr);
  // A region that work requests register and invalidate.
  int allocate_memory(Pd& pd, Mr*& mr);
  // Under the same key, which is not valid for a moment. An error has changed nothing. -EINVAL:
  // what register_memory() says, a region of allocate_memory(), windows bound to it.
  int reregister_memory(Mr& mr, const MemoryChange& change);
  // A piece of a region by its L_Key. -ENOENT: no such key; -EPERM: of another domain, or not to be
  // written; -EFAULT: not wholly in the region, or not in this process.
  int prefetch_memory(const Pd& pd, const memory::Sge& piece, Prefetch what);
  // No engine uses the memory any more when it returns 0. -ETIMEDOUT: may be called again.
  // -EINVAL: windows are bound to it.
  int deregister_memory(Mr& mr);
  // Memory windows; one that is bound is unbound by deallocating it.
  int allocate_window(Pd& pd, memory::KeyKind kind, Mw*& mw);
  int deallocate_window(Mw& mw);

  // Address handles. `ask_always`: attributes.dmac is not believed.
  int create_ah(Pd& pd, const AhAttributes& attributes, bool ask_always, Ah*& ah);
  int modify_ah(Ah& ah, const AhAttributes& attributes);
  AhAttributes query_ah(Ah& ah);
  int destroy_ah(Ah& ah);

  // Queues. `handle` is the face's, filled in; it stays where it is until destroy.
  int create_cq(uint32_t depth, void* user, CqHandle& handle);
  // No completion is lost or reordered; engines and pollers go on meanwhile. -EINVAL: `depth` out
  // of range or below what waits. -EBUSY: another resize or destroy. After -ETIMEDOUT the depth is
  // as before.
  int resize_cq(CqHandle& handle, uint32_t depth);
  int destroy_cq(CqHandle& handle, const Quiesce& quiesce = {});
  // An XRC domain is of one engine, the emptiest at its creation. -EBUSY: something is in it.
  int create_xrcd(Xrcd*& xrcd);
  int destroy_xrcd(Xrcd& xrcd);
  // A shared receive queue lives on one engine, and so do all queue pairs that use it. max_wr is
  // what was asked for.
  int create_srq(Pd& pd, const SrqRequest& request, SrqHandle& handle);
  // Both or neither: `wr_max` is resized to, then `limit` armed (0: disarmed); a missing one stays.
  // -EBUSY: another change or a destroy.
  int modify_srq(SrqHandle& handle, std::optional<uint32_t> wr_max, std::optional<uint32_t> limit);
  SrqState query_srq(const SrqHandle& handle);
  // -EBUSY while a queue pair uses it. What is posted vanishes.
  int destroy_srq(SrqHandle& handle, const Quiesce& quiesce = {});
  int create_qp(Pd& pd, const QpRequest& request, QpHandle& handle);
  int create_xrc_target(const QpRequest& request, QpHandle& handle);
  // To RESET: takes back what it has completed and nobody has polled.
  int modify_qp(QpHandle& handle, const QpChange& change);
  // `change.attributes` and `change.path` are filled in; mask has kAttrAv when there is a path.
  int query_qp(QpHandle& handle, QpChange& change);
  // -EBUSY: a member of a group. -ETIMEDOUT: may be called again, and nothing else.
  int destroy_qp(QpHandle& handle, const Quiesce& quiesce = {});

  // Membership of a UD queue pair in a group: a set. The order of checks is that of the verbs.
  // -EADDRINUSE: a member by source. Detach ends it whichever it is. An error has changed nothing,
  // -ETIMEDOUT too: what was not done in time is withdrawn.
  int attach_multicast(QpHandle& handle, const Gid& group);
  int detach_multicast(QpHandle& handle, const Gid& group);
  // For the messages of some sources only, one call each; the last one detached ends it. -EINVAL
  // from attach also: a member of every source, or no address of the group's family; from detach:
  // no member by source. -EADDRNOTAVAIL: not attached to this source.
  int attach_multicast_source(QpHandle& handle, const Gid& group, const Gid& source);
  int detach_multicast_source(QpHandle& handle, const Gid& group, const Gid& source);

  // For display: queue pairs by QPN, groups by address. -ETIMEDOUT: an engine does not answer.
  int list_qps(std::vector<QpSummary>& qps);
  std::vector<GroupSummary> list_groups();

 private:
  using Lock = EngineCaller::Lock;

  void raise(Lock& lock, transport::EventType event);
  static void call_unlocked(const Quiesce& quiesce, Lock& lock);
  int tell_addresses(Lock& lock, const std::vector<engine::LocalAddress>& addresses);
  int change_addresses(Lock& lock, const std::vector<engine::LocalAddress>& addresses);
  bool take_port_info(const PortInfo& info);

  int publish(Pd& pd, const memory::Region& region, Key& key);
  int open(Pd& pd, memory::KeyKind kind, Key& key);
  int retire(Key key, bool& retired);

  int resolve_shared(const Gid& destination, Lock& lock, MacAddress& mac);
  int resolve(const Gid& destination, Lock& lock, MacAddress& mac);
  void tell_unreachable(const Unreachable& note, Lock& lock);
  int build_path(AhAttributes& attributes, bool ask_always, Lock& lock,
                 transport::AddressVector& vector);

  int switch_ring(uint32_t engine, const CqHandle& handle, const std::shared_ptr<void>& memory,
                  uint32_t entries, Lock& lock);
  int add_xrc_queue(Srq& srq, Lock& lock);
  int call_srq(engine::Command::Kind kind, Srq& srq, Lock& lock);
  int remove_xrc_queue(Srq& srq, Lock& lock);
  int check_request(const QpRequest& request) const;
  int make_qp(Pd* pd, const QpRequest& request, QpHandle& handle);
  void fill_handle(const Qp& qp, QpHandle& handle);
  void take_back_completions(const Qp& qp);
  void release_qp(Qp& qp);

  int attach(QpHandle& handle, const Gid& group, const Gid& source);
  int open_group(const Gid& group, bool first, Lock& lock);
  void close_group(const Gid& group, bool last, Lock& lock);
  int tell_filter(const Gid& group, bool asks_more, Lock& lock);
  int call_member(engine::Command::Kind kind, const Qp& qp, const Gid& group, const Gid& source,
                  Lock& lock);
  int end_membership(Qp& qp, const Gid& group, Lock& lock);
  int set_filter();
  int open_address_filter(const std::set<MacAddress>& macs);
  void close_address_filter(const std::set<MacAddress>& macs);

  const std::string name_;
  const DeviceLimits limits_;
  engine::DeviceShared& shared_;
  PortOps& port_;
  const Gid gateway_ipv4_;
  const Gid gateway_ipv6_;
  const bool privileged_qkey_;
  const bool exclusive_;
  IdSource& ids_;

  std::mutex lock_;     // everything below
  FairLock port_lock_;  // calls into port_; taken after lock_ or without it
  EngineCaller caller_;
  KeyAllocator keys_;
  QpnAllocator qpns_;
  std::optional<KeyAllocator> xrc_numbers_;  // of XRC shared receive queues; made with the first
  GidTable gids_;
  GroupRegistry groups_;
  std::set<MacAddress> address_macs_;  // in groups_ for the port's own addresses
  PortInfo info_;
  std::atomic<uint32_t> mtu_bytes_{0};
  PathMtu active_mtu_ = PathMtu::k256;
  EventSink sink_ = nullptr;
  void* sink_context_ = nullptr;
  bool closing_ = false;
  bool addresses_due_ = false;  // not every engine has been told of the last change
  bool gsi_exists_ = false;
  uint32_t next_pd_ = 1;
  uint32_t next_xrcd_ = 1;
  Objects<Pd> pds_;
  Objects<Mr> mrs_;
  Objects<Mw> mws_;
  Objects<Ah> ahs_;
  Objects<Cq> cqs_;
  Objects<Srq> srqs_;
  Objects<Xrcd> xrcds_;
  std::map<uint32_t, std::unique_ptr<Qp>> qps_;  // by QPN
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_DEVICE_H
