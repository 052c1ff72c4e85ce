// SPDX-License-Identifier: BSD-3-Clause
// The bed's loops, its device, and the ends that tests post and poll with.
#include "test/threads/bed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "verbs/face.h"

namespace uroce::threads {

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// A buffer with as many references as it lies in rings.
struct Core::Frame {
  std::vector<uint8_t> bytes;
  std::atomic<uint32_t> references{1};
};

Core::Core(engine::EngineSeat& seat, worker::HandoffMesh& mesh, uint32_t index, OnWire on_wire)
    : seat_(seat), mesh_(mesh), index_(index), on_wire_(std::move(on_wire)) {
  for (auto& room : rooms_) room.resize(9216);
}

Core::~Core() {
  for (Frame* frame : looped_) drop(*frame);
  worker::HandedFrame handed;
  for (uint32_t from = 0; from < mesh_.engines(); ++from) {
    while (mesh_.ring(from, index_).pop(handed)) drop(*reinterpret_cast<Frame*>(handed.token));
  }
}

void Core::drop(Frame& frame) {
  if (frame.references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &frame;
}

uint32_t Core::turn(Time now) {
  engine::Engine& engine = seat_.engine();
  seat_.epoch().begin_turn(false);
  uint32_t moved = receive(now);
  engine::Command* command = nullptr;
  const int limit = on_wire_ ? 1 : 8;
  for (int i = 0; i < limit && seat_.mailbox().pop(command); ++i) {
    engine.handle_command(now, *command);
  }
  if (engine.poll_timeout() <= now) engine.handle_timeout(now);
  moved += transmit(now);
  seat_.epoch().end_turn();
  return moved;
}

uint32_t Core::receive(Time now) {
  uint32_t count = 0;
  for (; !looped_.empty() && count < 64; ++count) {
    Frame* frame = looped_.front();
    looped_.pop_front();
    handle(*frame, true, false, now);
  }
  worker::HandedFrame handed;
  for (uint32_t from = 0; from < mesh_.engines(); ++from) {
    for (int i = 0; i < 64 && mesh_.ring(from, index_).pop(handed); ++i, ++count) {
      handle(*reinterpret_cast<Frame*>(handed.token), true, handed.icrc_good, now);
    }
  }
  return count;
}

// Takes over one reference.
void Core::handle(Frame& frame, bool looped, bool icrc_good, Time now) {
  RxFrame rx;
  rx.bytes = frame.bytes.data();
  rx.length = static_cast<uint32_t>(frame.bytes.size());
  rx.looped = looped;
  rx.icrc_good = icrc_good;
  rx.token = Token{reinterpret_cast<uint64_t>(&frame)};
  rx.arrival = now;
  seat_.engine().handle_frames(now, {&rx, 1});
  engine::Handoff out[8];
  while (const size_t count = seat_.engine().poll_handoff(out)) {
    for (size_t i = 0; i < count; ++i) {
      frame.references.fetch_add(1, std::memory_order_relaxed);
      if (!mesh_.ring(index_, out[i].engine)
               .push({out[i].token, out[i].arrival, out[i].icrc_good})) {
        drop(frame);
      }
    }
  }
  drop(frame);
}

uint32_t Core::transmit(Time now) {
  std::array<TxSlot, 16> slots;
  for (size_t i = 0; i < slots.size(); ++i) {
    slots[i].room = rooms_[i].data();
    slots[i].capacity = static_cast<uint32_t>(rooms_[i].size());
  }
  const size_t count = seat_.engine().poll_frames(now, slots);
  for (size_t i = 0; i < count; ++i) {
    if (on_wire_ && slots[i].route != Route::kLocal) on_wire_({slots[i].room, slots[i].length});
    if (slots[i].route == Route::kWire) continue;
    looped_.push_back(new Frame{{slots[i].room, slots[i].room + slots[i].length}});
  }
  return static_cast<uint32_t>(count);
}

Time Bed::now() {
  return Time(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

Bed::Bed(engine::DriveMode mode, uint32_t engines, const OnWire& on_wire)
    : mode_(mode), mesh_(engines) {
  shared_.keys = &keys_;
  shared_.engine_count = engines;
  shared_.qp_slots_per_engine = 64;
  shared_.groups = std::make_unique<engine::GroupPresence>(engines, 1);
  port_.port.queue_count = engines;
  for (uint32_t i = 0; i < engines; ++i) {
    engine::EngineConfig config;
    config.index = i;
    config.shared = &shared_;
    config.mac = device::kTestMac;
    config.port_mtu_bytes = 4096 + 84;
    config.seed = i + 1;
    seats_.push_back(std::make_unique<engine::EngineSeat>(config, mode));
    seat_pointers_.push_back(seats_.back().get());
    cores_.push_back(std::make_unique<Core>(*seats_.back(), mesh_, i, on_wire));
  }
  device::DeviceSetup setup;
  setup.name = "uroce0";
  setup.seats = seat_pointers_;
  setup.driver = {[](void*) { return now(); },
                  [](void* self, uint32_t) { static_cast<Bed*>(self)->turn_all(); }, this};
  setup.shared = &shared_;
  setup.port = &port_;
  setup.ids = &ids_;
  device_ = std::make_unique<device::Device>(setup);
  const bool worker = mode == engine::DriveMode::kWorker;
  const worker::EventSink sink{
      [](void*, const transport::Event& event) { verbs::dispatch_event(event); }, nullptr};
  control_ = std::make_unique<worker::ControlThread>(
      worker ? engines : 0, sink, [](void*) {}, nullptr, std::chrono::milliseconds(100));
  if (worker) {
    for (uint32_t i = 0; i < engines; ++i) workers_.emplace_back([this, i] { work(i); });
  }
  handle_ = verbs::open_device(*device_);
  EXPECT_EQ(device_->start(), 0);
}

Bed::~Bed() {
  EXPECT_EQ(device_->shut_down(), 0);
  control_->stop();
  verbs::close_device(handle_);
  stop_ = true;
  for (std::thread& worker : workers_) worker.join();
}

void Bed::work(uint32_t index) {
  Core& core = *cores_[index];
  std::optional<transport::Event> held;
  while (!stop_.load(std::memory_order_acquire)) {
    const uint32_t moved = core.turn(now());
    if (!held) held = core.seat().engine().poll_event();
    while (held && control_->push(index, *held)) held = core.seat().engine().poll_event();
    if (moved == 0) std::this_thread::yield();
  }
}

uint32_t Bed::turn_all() {
  if (mode_ == engine::DriveMode::kWorker) return 0;
  uint32_t moved = 0;
  for (auto& core : cores_) {
    if (!core->seat().try_take()) continue;
    moved += core->turn(now());
    core->seat().give_back();
  }
  return moved;
}

uint32_t Bed::poll() {
  const uint32_t moved = turn_all();
  for (auto& core : cores_) {
    while (core->seat().try_take()) {
      const auto event = core->seat().engine().poll_event();
      core->seat().give_back();
      if (!event) break;
      verbs::dispatch_event(*event);
    }
  }
  return moved;
}

ib_gid gid_of(const Gid& gid) {
  ib_gid raw;
  std::memcpy(raw.raw, gid.bytes.data(), 16);
  return raw;
}

namespace {

rdma_ah_attr path_to(const Gid& destination) {
  rdma_ah_attr attr{};
  attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  ib_gid raw = gid_of(destination);
  // The port's GIDs: link-local, IPv4, IPv6.
  rdma_ah_set_grh(&attr, &raw, 0, destination.is_ipv4() ? 1 : 2, 64, 0);
  rdma_ah_set_port_num(&attr, 1);
  return attr;
}

}  // namespace

ib_ah* make_ah(End& end, const Gid& destination) {
  rdma_ah_attr attr = path_to(destination);
  ib_ah* ah = rdma_create_ah(end.pd(), &attr, 0);
  EXPECT_FALSE(IS_ERR(ah)) << PTR_ERR(ah);
  return ah;
}

End::End(Bed& bed, ib_qp_type type, ib_comp_handler handler, void* context)
    : memory_((kDepth + 1) * kSlotBytes) {
  pd_ = ib_alloc_pd(bed.device(), 0);
  EXPECT_FALSE(IS_ERR(pd_));
  const ib_cq_init_attr cq_attr{.cqe = 4 * kDepth, .comp_vector = 0, .flags = 0};
  cq_ = ib_create_cq(bed.device(), handler, nullptr, context, &cq_attr);
  EXPECT_FALSE(IS_ERR(cq_));
  const auto address = reinterpret_cast<__u64>(memory_.data());
  mr_ = ib_reg_user_mr(pd_, address, memory_.size(), address,
                       IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
  EXPECT_FALSE(IS_ERR(mr_));
  ib_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq_;
  attr.qp_type = type;
  attr.sq_sig_type = IB_SIGNAL_ALL_WR;
  attr.cap = {kDepth, kDepth, 1, 1, 0, 0};
  qp_ = ib_create_qp(pd_, &attr);
  EXPECT_FALSE(IS_ERR(qp_)) << PTR_ERR(qp_);
}

End::~End() {
  destroy_qp();
  deregister();
  EXPECT_EQ(ib_destroy_cq(cq_), 0);
  EXPECT_EQ(ib_dealloc_pd(pd_), 0);
}

void End::destroy_qp() {
  if (qp_ == nullptr) return;
  EXPECT_EQ(ib_destroy_qp(qp_), 0);
  qp_ = nullptr;
}

void End::deregister() {
  if (mr_ == nullptr) return;
  EXPECT_EQ(ib_dereg_mr(mr_), 0);
  mr_ = nullptr;
}

void End::activate() {
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = kQkey;
  EXPECT_EQ(ib_modify_qp(qp_, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY), 0);
  attr.qp_state = IB_QPS_RTR;
  EXPECT_EQ(ib_modify_qp(qp_, &attr, IB_QP_STATE), 0);
  attr.qp_state = IB_QPS_RTS;
  EXPECT_EQ(ib_modify_qp(qp_, &attr, IB_QP_STATE | IB_QP_SQ_PSN), 0);
}

void End::connect_to(uint32_t peer_qpn) {
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE;
  EXPECT_EQ(
      ib_modify_qp(qp_, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS),
      0);
  attr.qp_state = IB_QPS_RTR;
  attr.path_mtu = IB_MTU_1024;
  attr.dest_qp_num = peer_qpn;
  attr.min_rnr_timer = 1;
  attr.ah_attr = path_to(device::kTestIpv4);
  EXPECT_EQ(ib_modify_qp(qp_, &attr,
                         IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
                             IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER),
            0);
  attr.qp_state = IB_QPS_RTS;
  attr.timeout = 18;  // a second: a core that waits for its CPU is no dead peer
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  EXPECT_EQ(ib_modify_qp(qp_, &attr,
                         IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
                             IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC),
            0);
}

ib_sge End::sge(uint32_t slot, uint32_t length) const {
  return {reinterpret_cast<__u64>(memory_.data()) + slot * kSlotBytes, length, mr_->lkey};
}

int End::post_recvs() {
  int posted = 0;
  for (; recvs_posted_ - recvs_done_ < kDepth; ++recvs_posted_, ++posted) {
    ib_sge element = sge(recvs_posted_ % kDepth, kSlotBytes);
    ib_recv_wr wr{};
    wr.wr_id = recvs_posted_;
    wr.sg_list = &element;
    wr.num_sge = 1;
    EXPECT_EQ(ib_post_recv(qp_, &wr, nullptr), 0);
  }
  return posted;
}

bool End::post(ib_send_wr& wr) {
  ib_sge element = sge(kDepth, 64);
  wr.sg_list = &element;
  wr.num_sge = 1;
  const int error = ib_post_send(qp_, &wr, nullptr);
  EXPECT_TRUE(error == 0 || error == -ENOMEM) << error;
  return error == 0;
}

bool End::post_datagram(ib_ah* ah, uint32_t qpn) {
  ib_ud_wr wr{};
  wr.wr.opcode = IB_WR_SEND;
  wr.ah = ah;
  wr.remote_qpn = qpn;
  wr.remote_qkey = kQkey;
  return post(wr.wr);
}

bool End::post_send() {
  ib_send_wr wr{};
  wr.opcode = IB_WR_SEND;
  return post(wr);
}

Target End::target() const { return {reinterpret_cast<uint64_t>(memory_.data()), mr_->rkey}; }

bool End::post_write(const Target& to) {
  ib_rdma_wr wr{};
  wr.wr.opcode = IB_WR_RDMA_WRITE;
  wr.remote_addr = to.address;
  wr.rkey = to.rkey;
  return post(wr.wr);
}

std::vector<ib_wc> End::poll() {
  std::vector<ib_wc> all;
  std::array<ib_wc, 16> some;
  for (;;) {
    const int count = ib_poll_cq(cq_, static_cast<int>(some.size()), some.data());
    EXPECT_GE(count, 0);
    for (int i = 0; i < count; ++i) {
      if (some[i].opcode == IB_WC_RECV) ++recvs_done_;
      all.push_back(some[i]);
    }
    if (count < static_cast<int>(some.size())) return all;
  }
}

void End::overwrite_memory(uint8_t value) {
  std::fill_n(memory_.begin(), kDepth * kSlotBytes, value);
}

}  // namespace uroce::threads
