// SPDX-License-Identifier: BSD-3-Clause
// For thread tests: the product from verbs to engines, driven by real threads over a port of paper.
//
// What lib/worker does with lcores and mbufs is done here with std::thread and counted buffers; the
// loop, the hand-off mesh between engines and the control thread are the product's own or follow
// it line by line. DPDK is not in it: ThreadSanitizer cannot see through DPDK's rings.
#ifndef UROCE_TEST_THREADS_BED_H
#define UROCE_TEST_THREADS_BED_H

#include <uroce/ib_verbs.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/device_fixture.h"
#include "worker/control_thread.h"
#include "worker/handoff_mesh.h"

namespace uroce::threads {

// Long beyond any honest wait, on a machine with one CPU and many such tests too.
inline constexpr std::chrono::seconds kPatience{20};

// Waits until `condition` holds, giving the CPU away; false after kPatience.
bool eventually(const std::function<bool()>& condition);

// Sees each frame that leaves through the port, on the thread that drives the engine.
using OnWire = std::function<void(std::span<const uint8_t> frame)>;

// One engine and what drives it. The owner of the seat (worker thread, or baton) calls turn().
class Core {
 public:
  // With `on_wire` it carries out one command a turn, so that what each does to the wire is seen.
  Core(engine::EngineSeat& seat, worker::HandoffMesh& mesh, uint32_t index, OnWire on_wire = {});
  ~Core();

  // One loop turn, in the order of lib/worker/loop.cc. Returns how many frames moved.
  uint32_t turn(Time now);
  engine::EngineSeat& seat() { return seat_; }

 private:
  struct Frame;
  uint32_t receive(Time now);
  uint32_t transmit(Time now);
  void handle(Frame& frame, bool looped, bool icrc_good, Time now);
  static void drop(Frame& frame);

  engine::EngineSeat& seat_;
  worker::HandoffMesh& mesh_;
  const uint32_t index_;
  const OnWire on_wire_;
  std::deque<Frame*> looped_;
  std::array<std::vector<uint8_t>, 16> rooms_;
};

// A device with two engines. Worker mode: each has its thread. Shared: whoever calls poll().
class Bed {
 public:
  explicit Bed(engine::DriveMode mode, uint32_t engines = 2, const OnWire& on_wire = {});
  ~Bed();  // every verbs object has been destroyed
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  ib_device* device() { return handle_; }
  device::Device& object() { return *device_; }
  const device::PaperPort& port() const { return port_; }  // while no control call is under way
  static Time now();

  // Shared mode: one turn of every engine that is free, then events. Packets moved.
  uint32_t poll();

 private:
  void work(uint32_t index);
  uint32_t turn_all();

  const engine::DriveMode mode_;
  device::PaperPort port_;
  memory::KeyTable keys_{4096};
  SeededIdSource ids_{1};
  engine::DeviceShared shared_;
  worker::HandoffMesh mesh_;
  std::vector<std::unique_ptr<engine::EngineSeat>> seats_;
  std::vector<engine::EngineSeat*> seat_pointers_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<worker::ControlThread> control_;
  ib_device* handle_ = nullptr;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

// Where RDMA WRITEs may go, for a thread that must not look at the other end itself.
struct Target {
  uint64_t address = 0;
  uint32_t rkey = 0;
};

// A queue pair with its own domain, completion queue and memory. One thread at a time.
class End {
 public:
  static constexpr uint32_t kDepth = 64;
  static constexpr uint32_t kSlotBytes = 128;  // of each receive; the send buffer lies behind them
  static constexpr uint32_t kQkey = 0x11111111;

  End(Bed& bed, ib_qp_type type, ib_comp_handler handler = nullptr, void* context = nullptr);
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  // UD: to RTS. RC: to RTS towards `peer`.
  void activate();
  void connect(const End& peer) { connect_to(peer.qp_->qp_num); }
  void connect_to(uint32_t peer_qpn);
  // What the destructor would do first; the other objects stay.
  void destroy_qp();
  void deregister();

  // Posts what the queue has room for: all receives, or one request of 64 bytes. False: full.
  int post_recvs();
  bool post_datagram(ib_ah* ah, uint32_t qpn);
  bool post_send();
  bool post_write(const Target& to);
  // Completions that have come; errors are the caller's to judge. A receive's slot is free again.
  std::vector<ib_wc> poll();

  Target target() const;
  ib_qp* qp() { return qp_; }
  ib_cq* cq() { return cq_; }
  ib_pd* pd() { return pd_; }
  // All receive slots, as plain memory: nobody may be writing there meanwhile.
  void overwrite_memory(uint8_t value);

 private:
  ib_sge sge(uint32_t slot, uint32_t length) const;
  bool post(ib_send_wr& wr);

  std::vector<uint8_t> memory_;
  ib_pd* pd_ = nullptr;
  ib_cq* cq_ = nullptr;
  ib_mr* mr_ = nullptr;
  ib_qp* qp_ = nullptr;
  uint32_t recvs_posted_ = 0;
  uint32_t recvs_done_ = 0;
};

// An address handle of `end`'s domain towards an address of the device, or a group.
ib_ah* make_ah(End& end, const Gid& destination);
ib_gid gid_of(const Gid& gid);

}  // namespace uroce::threads

#endif  // UROCE_TEST_THREADS_BED_H
