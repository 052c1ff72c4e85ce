// SPDX-License-Identifier: BSD-3-Clause
// A simulated host that is alone on its wire, with objects of every kind, connected to queue pairs
// of a peer that exists only in the fuzzer's frames.
#ifndef UROCE_TEST_FUZZ_ENGINE_FUZZ_HOST_H
#define UROCE_TEST_FUZZ_ENGINE_FUZZ_HOST_H

#include <array>
#include <memory>
#include <vector>

#include "test/fuzz/engine/arena.h"
#include "test/fuzz/engine/books.h"
#include "test/sim/host.h"
#include "test/sim/world.h"
#include "wire/parse.h"

namespace uroce::fuzz {

// The queue pairs, one of each kind; kLoop is an RC queue pair connected to itself.
enum Slot : uint8_t { kRc, kUc, kUd, kXrcIni, kXrcTgt, kRcShared, kLoop, kUdShared, kSlotCount };

// A completion queue and what its handlers have said.
struct CqSlot {
  ib_cq* cq = nullptr;
  bool armed = false;     // for the next completion, with nothing in it
  bool notified = false;  // since then
  bool moderated = false;
};

struct QpSlot {
  ib_qp* qp = nullptr;  // nullptr: destroyed
  QpBook book;
  ib_mtu mtu = IB_MTU_256;
};

// What a connection begins with.
struct Connection {
  ib_mtu mtu = IB_MTU_256;
  uint32_t first_psn = 0xFFFFF8;  // of both ends: wraps soon
  uint8_t timeout = 10;           // 4.2 ms
  uint8_t retries = 3;            // retry_cnt and rnr_retry
  uint8_t rd_atomic = 4;
  bool ipv6 = false;
};

class FuzzHost {
 public:
  static constexpr uint32_t kPeerQpn = 0x000100;  // of the peer of slot 0; then one by one
  static constexpr uint32_t kQkey = 0x11111111;
  static constexpr size_t kCqs = 3;
  static constexpr size_t kGroups = 2;  // one of IPv4, one of IPv6

  FuzzHost();
  ~FuzzHost();
  FuzzHost(const FuzzHost&) = delete;
  FuzzHost& operator=(const FuzzHost&) = delete;

  sim::World& world() { return world_; }
  sim::Host& host() { return *host_; }
  Arena& arena() { return *arena_; }
  Numbers& numbers() { return numbers_; }
  SharedBook& shared_book() { return shared_book_; }
  CqSlot& cq(size_t index) { return cqs_[index % kCqs]; }
  QpSlot& slot(size_t index) { return slots_[index % kSlotCount]; }
  // Whether packets of the host may come from there.
  bool owns(const wire::ParsedFrame& frame) const;
  ib_srq* srq(bool xrc) { return xrc ? xrc_srq_ : srq_; }
  ib_ah* ah(size_t index) { return ahs_[index % ahs_.size()]; }
  static ib_gid group(size_t index);
  static Gid peer_gid(bool ipv6);
  static MacAddress peer_mac() { return {{2, 0, 0, 0, 0, 2}}; }
  // nullptr: it was destroyed.
  const transport::QpContext* context(const QpSlot& slot);

  void create(Slot slot);
  // From RESET to RTS; the first error of a modify.
  int connect(Slot slot, const Connection& connection);
  // -EBUSY: a member of a group.
  int destroy(Slot slot);
  int modify(QpSlot& slot, ib_qp_attr& attr, int mask);

  // Turns the host's loop at the present time until it has nothing to do.
  void settle();
  // Moves the clock, as far as a bounded number of events goes.
  void advance(Duration span);
  // Takes every completion of the queue, or of all, and looks for missed wake-ups.
  void poll(CqSlot& cq);
  void poll_all();
  // The end: everything is flushed and destroyed, and nothing is left.
  void close();

 private:
  static void on_completion(ib_cq* cq, void* slot);
  static void on_qp_event(ib_event* event, void* self);
  void make_queues();
  void make_addresses();
  rdma_ah_attr path_to(const Gid& gid, bool direct) const;
  int to_init(QpSlot& slot);
  int to_rtr(Slot which, const Connection& connection);
  int to_rts(QpSlot& slot, const Connection& connection);
  void take(const ib_wc& wc);
  void flush_all();
  void destroy_all();
  void check_end();

  sim::World world_{1};
  sim::Host* host_ = nullptr;
  std::unique_ptr<Arena> arena_;
  Numbers numbers_;
  SharedBook shared_book_;
  std::array<CqSlot, kCqs> cqs_;
  std::array<QpSlot, kSlotCount> slots_;
  ib_xrcd* xrcd_ = nullptr;
  ib_srq* srq_ = nullptr;
  ib_srq* xrc_srq_ = nullptr;
  std::vector<Gid> gids_;    // the table
  std::vector<ib_ah*> ahs_;  // to the peer, to itself, to each group
};

}  // namespace uroce::fuzz

#endif  // UROCE_TEST_FUZZ_ENGINE_FUZZ_HOST_H
