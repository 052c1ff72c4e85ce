// SPDX-License-Identifier: BSD-3-Clause
// Test support: a device made of real engines, driven by virtual time.
//
// A TestDevice is what lib/device and lib/worker are in the product, at its smallest: it owns the
// memory, hands out QPNs and runs the loop turn of each engine. wire_fixture.h joins devices.
#ifndef UROCE_ENGINE_ENGINE_FIXTURE_H
#define UROCE_ENGINE_ENGINE_FIXTURE_H

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "engine/packet_fixture.h"
#include "transport/completion_queue.h"
#include "transport/qp_memory.h"

namespace uroce::engine {

using transport::Cqe;
using transport::QpState;
using transport::QpType;

class TestDevice;

// A queue pair with CQs of its own. Offsets are into its device's memory.
class TestQp {
 public:
  TestQp(TestDevice& device, QpType type, Qpn qpn, uint32_t cq_depth);

  TestDevice& device;
  const QpType type;
  const Qpn qpn;
  transport::QpQueues* queues;
  transport::CompletionQueue* send_cq;
  transport::CompletionQueue* recv_cq;
  uint32_t qkey = 0x11111111;
  bool block_multicast_loopback = false;

  void post_recv(size_t offset, uint32_t length, uint64_t wr_id = 0);
  // SEND, WRITE or READ of [offset, offset + length) of the device's memory.
  void post(const transport::SendWqe& wqe, size_t offset, uint32_t length);
  void post_send(size_t offset, uint32_t length, uint64_t wr_id = 0);
  void post_datagram(const TestQp& to, size_t offset, uint32_t length, uint64_t wr_id = 0);
  void post_multicast(const Gid& group, size_t offset, uint32_t length);
  std::vector<Cqe> sent() { return poll(*send_cq); }
  std::vector<Cqe> received() { return poll(*recv_cq); }

 private:
  friend class TestDevice;
  static std::vector<Cqe> poll(transport::CompletionQueue& cq) {
    std::vector<Cqe> out;
    cq_poll(cq, 4096, [&](const Cqe& cqe) { out.push_back(cqe); });
    return out;
  }
  void post_to(const transport::AddressVector& av, Qpn to, uint32_t to_qkey, size_t offset,
               uint32_t length, uint64_t wr_id);

  AlignedBlock queue_block_;
  AlignedBlock send_cq_block_;
  AlignedBlock recv_cq_block_;
};

struct TestDeviceOptions {
  uint8_t number = 1;  // last byte of its addresses
  uint32_t engines = 1;
  bool own_port = true;
  bool port_filters_nothing = false;
  uint32_t qp_slots = 256;
  uint32_t burst_per_qp = 16;
  uint32_t key_slots = 128;
  bool tail_probe = true;
};

class TestDevice {
 public:
  static constexpr uint32_t kPd = 7;
  static constexpr Key kKey{0x0102};  // L_Key and R_Key of the whole of `memory`, all rights
  static constexpr size_t kMemoryBytes = size_t{1} << 20;

  explicit TestDevice(const TestDeviceOptions& device_options)
      : options(device_options),
        mac{{2, 0, 0, 0, 0, options.number}},
        ipv4(Gid::from_ipv4(0x0A000000u + options.number)),
        ipv6(ipv6_of(options.number)),
        memory(kMemoryBytes) {
    const uint32_t all = memory::kLocalWrite | memory::kRemoteWrite | memory::kRemoteRead;
    keys.publish(kKey, {memory.data(), address(0), memory.size(), kPd, all});
    shared.keys = &keys;
    shared.engine_count = options.engines;
    shared.qp_slots_per_engine = options.qp_slots;
    shared.groups = std::make_unique<GroupPresence>(options.engines, 1);
    inbox.resize(options.engines);
    for (uint32_t i = 0; i < options.engines; ++i) {
      EngineConfig config;
      config.index = i;
      config.shared = &shared;
      config.exclusive = true;
      config.own_port = options.own_port;
      config.port_filters_nothing = options.port_filters_nothing;
      config.mac = mac;
      config.seed = options.number;
      config.burst_per_qp = options.burst_per_qp;
      config.tail_probe = options.tail_probe;
      engines.push_back(std::make_unique<Engine>(config));
      const LocalAddress addresses[] = {{ipv4, 24}, {ipv6, 64}};
      SetAddressesCommand command;
      command.addresses = addresses;
      EXPECT_EQ(run(i, command), 0);
    }
  }

  static Gid ipv6_of(uint8_t number) {
    Gid gid;
    gid.bytes[0] = 0xfd;
    gid.bytes[15] = number;
    return gid;
  }

  // --- commands ---
  int run(uint32_t engine, Command& command) {
    engines[engine]->handle_command(now, command);
    return command.done ? command.result : -EINPROGRESS;
  }
  QpnLayout layout() const { return QpnLayout::of(shared); }
  uint32_t engine_of(const TestQp& qp) const { return layout().engine_of(qp.qpn); }
  // Creates a queue pair in RESET; `generation` is the part of the QPN above the slot.
  std::unique_ptr<TestQp> create(QpType type, uint32_t engine = 0, uint32_t generation = 1,
                                 uint32_t cq_depth = 1024, bool block_loopback = false) {
    if (next_slot.empty()) next_slot.assign(options.engines, 2);
    return create_at(type, engine, next_slot[engine]++, generation, cq_depth, block_loopback);
  }
  std::unique_ptr<TestQp> create_at(QpType type, uint32_t engine, uint32_t slot,
                                    uint32_t generation, uint32_t cq_depth = 1024,
                                    bool block_loopback = false) {
    const uint32_t number = generation << layout().slot_bits | (engine * options.qp_slots + slot);
    const Qpn qpn = type == QpType::kGsi ? kGsiQpn : Qpn(number);
    auto qp = std::make_unique<TestQp>(*this, type, qpn, cq_depth);
    CreateQpCommand command;
    command.qpn = qpn;
    command.type = type;
    command.pd = kPd;
    command.signal_all = true;
    command.block_multicast_loopback = block_loopback;
    command.queues = qp->queues;
    command.send_cq = qp->send_cq;
    command.recv_cq = qp->recv_cq;
    command.user = qp.get();
    EXPECT_EQ(run(engine_of(*qp), command), 0);
    return qp;
  }
  int modify(TestQp& qp, const transport::QpAttributes& attributes, uint32_t mask) {
    ModifyQpCommand command;
    command.qpn = qp.qpn;
    command.attributes = attributes;
    command.mask = mask;
    return run(engine_of(qp), command);
  }
  int to_state(TestQp& qp, QpState state) {
    transport::QpAttributes attributes;
    attributes.state = state;
    return modify(qp, attributes, transport::kAttrState);
  }
  int destroy(TestQp& qp) {
    DestroyQpCommand command;
    command.qpn = qp.qpn;
    return run(engine_of(qp), command);
  }
  int attach(TestQp& qp, const Gid& group) { return membership(qp, group, true); }
  int detach(TestQp& qp, const Gid& group) { return membership(qp, group, false); }
  int attach_source(TestQp& qp, const Gid& group, const Gid& source) {
    return membership(qp, group, true, source);
  }
  int detach_source(TestQp& qp, const Gid& group, const Gid& source) {
    return membership(qp, group, false, source);
  }
  // UD or GSI, up to `state`.
  void start_datagrams(TestQp& qp, QpState state = QpState::kRts) {
    transport::QpAttributes a;
    a.qkey = qp.qkey;
    a.state = QpState::kInit;
    const uint32_t port = qp.type == QpType::kGsi ? 0u : transport::kAttrPort;
    ASSERT_EQ(
        modify(qp, a,
               transport::kAttrState | transport::kAttrPkeyIndex | transport::kAttrQkey | port),
        0);
    if (state == QpState::kInit) return;
    ASSERT_EQ(to_state(qp, QpState::kRtr), 0);
    if (state == QpState::kRtr) return;
    a.state = QpState::kRts;
    ASSERT_EQ(modify(qp, a, transport::kAttrState | transport::kAttrSqPsn), 0);
  }
  std::unique_ptr<TestQp> datagram_qp(uint32_t engine = 0, bool block_loopback = false) {
    auto qp = create(QpType::kUd, engine, 1, 1024, block_loopback);
    start_datagrams(*qp);
    return qp;
  }
  const transport::QpContext& context(const TestQp& qp) const {
    return *engines[engine_of(qp)]->qp(qp.qpn);
  }

  // --- observation ---
  uint64_t address(size_t offset) const {
    return reinterpret_cast<uint64_t>(memory.data()) + offset;
  }
  void fill(size_t offset, size_t count, uint8_t first) {
    std::iota(at(offset), at(offset + count), first);
  }
  std::vector<uint8_t> bytes_at(size_t offset, size_t count) {
    return {at(offset), at(offset + count)};
  }
  uint64_t dropped(wire::Drop reason) const {
    return std::accumulate(
        engines.begin(), engines.end(), uint64_t{0}, [&](uint64_t sum, const auto& engine) {
          return sum + engine->drops().by_reason[static_cast<size_t>(reason)].value();
        });
  }
  uint64_t dropped() const {
    uint64_t sum = 0;
    for (size_t i = 0; i < wire::kDropCount; ++i) sum += dropped(static_cast<wire::Drop>(i));
    return sum;
  }

  // --- the loop ---

  // A frame comes from the port, into queue `engine`; without a time it has that of the turn.
  void receive(Bytes bytes, uint32_t engine = 0, std::optional<ReceiveTime> time = {}) {
    inbox[engine].push_back({std::move(bytes), false, false, time});
  }
  // One loop turn of each engine. Returns how many frames were moved.
  size_t turn();
  Time poll_timeout() const {
    Time next = kNever;
    for (const auto& engine : engines) next = std::min(next, engine->poll_timeout());
    return next;
  }

  const TestDeviceOptions options;
  const MacAddress mac;
  const Gid ipv4;
  const Gid ipv6;
  std::vector<uint8_t> memory;
  memory::KeyTable keys{options.key_slots};
  DeviceShared shared;
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<uint32_t> next_slot;
  Time now = Time(Duration(std::chrono::seconds(1)));

  struct Arrival {
    Bytes bytes;
    bool looped = false;
    bool icrc_good = false;
    std::optional<ReceiveTime> time{};  // nothing: when the engine takes it
  };
  std::vector<std::deque<Arrival>> inbox;  // one per engine
  std::vector<Bytes> outbox;               // to the wire
  size_t slots_per_poll = 32;

 private:
  std::vector<uint8_t>::iterator at(size_t offset) {
    return memory.begin() + static_cast<ptrdiff_t>(offset);
  }
  int membership(TestQp& qp, const Gid& group, bool attach, const Gid& source = {}) {
    MulticastCommand command(attach ? Command::Kind::kAttachMulticast
                                    : Command::Kind::kDetachMulticast);
    command.qpn = qp.qpn;
    command.group = group;
    command.source = source;
    return run(engine_of(qp), command);
  }
  size_t input(uint32_t index);
  size_t output(uint32_t index);
};

// --- TestQp ---

inline TestQp::TestQp(TestDevice& its_device, QpType its_type, Qpn its_qpn, uint32_t cq_depth)
    : device(its_device), type(its_type), qpn(its_qpn) {
  const transport::QpCapabilities capabilities{128, 128, 2, 2, 64};
  const uint32_t lanes = device.options.engines;
  queue_block_ = aligned_block(transport::qp_memory_bytes(type, capabilities));
  send_cq_block_ = aligned_block(transport::cq_memory_bytes(cq_depth, lanes));
  recv_cq_block_ = aligned_block(transport::cq_memory_bytes(cq_depth, lanes));
  queues = transport::carve_qp_memory(type, capabilities, queue_block_.get());
  send_cq = transport::carve_cq_memory(cq_depth, lanes, send_cq_block_.get());
  recv_cq = transport::carve_cq_memory(cq_depth, lanes, recv_cq_block_.get());
  send_cq->user = send_cq;
  recv_cq->user = recv_cq;
}

inline void TestQp::post_recv(size_t offset, uint32_t length, uint64_t wr_id) {
  transport::ReceiveQueue& queue = queues->recv;
  ASSERT_FALSE(queue.full());
  const uint32_t index = queue.producer.load();
  queue.wqe(index) = {wr_id, length, 1};
  *queue.wqe(index).sge_array() = {device.address(offset), length, TestDevice::kKey.value()};
  queue.producer.store(index + 1);
  if (queues->state_word.load() == QpState::kErr) {
    device.engines[device.engine_of(*this)]->doorbells().ring(device.layout().slot_of(qpn));
  }
}

inline void TestQp::post(const transport::SendWqe& wqe, size_t offset, uint32_t length) {
  transport::SendQueue& queue = queues->send;
  ASSERT_FALSE(queue.full());
  const uint32_t index = queue.producer.load();
  queue.wqe(index) = wqe;
  queue.wqe(index).length = length;
  queue.wqe(index).sge_count = 1;
  *reinterpret_cast<memory::Sge*>(queue.payload_area(queue.wqe(index))) = {
      device.address(offset), length, TestDevice::kKey.value()};
  queue.producer.store(index + 1);
  device.engines[device.engine_of(*this)]->doorbells().ring(device.layout().slot_of(qpn));
}

inline void TestQp::post_send(size_t offset, uint32_t length, uint64_t wr_id) {
  transport::SendWqe wqe{};
  wqe.wr_id = wr_id;
  wqe.opcode = transport::WrOpcode::kSend;
  wqe.flags = transport::kSendSignaled;
  post(wqe, offset, length);
}

inline void TestQp::post_to(const transport::AddressVector& av, Qpn to, uint32_t to_qkey,
                            size_t offset, uint32_t length, uint64_t wr_id) {
  transport::SendWqe wqe{};
  wqe.wr_id = wr_id;
  wqe.opcode = transport::WrOpcode::kSend;
  wqe.flags = transport::kSendSignaled;
  wqe.remote_qpn = to.value();
  wqe.remote_qkey = to_qkey;
  transport::SendQueue::address_vector(queues->send.wqe(queues->send.producer.load())) = av;
  post(wqe, offset, length);
}

inline void TestQp::post_datagram(const TestQp& to, size_t offset, uint32_t length,
                                  uint64_t wr_id) {
  transport::AddressVector av =
      address_vector(device.ipv4, to.device.ipv4, device.mac, to.device.mac);
  if (&to.device == &device) av.route = Route::kLocal;
  post_to(av, to.qpn, to.qkey, offset, length, wr_id);
}

inline void TestQp::post_multicast(const Gid& group, size_t offset, uint32_t length) {
  post_to(address_vector(device.ipv4, group, device.mac, group_mac(group)), kMulticastQpn, qkey,
          offset, length, 0);
}

// --- the loop ---

inline size_t TestDevice::input(uint32_t index) {
  std::deque<Arrival> arrivals;
  arrivals.swap(inbox[index]);
  std::vector<RxFrame> frames;
  for (const Arrival& arrival : arrivals) {
    RxFrame frame;
    frame.bytes = arrival.bytes.data();
    frame.length = static_cast<uint32_t>(arrival.bytes.size());
    frame.icrc_good = arrival.icrc_good;
    frame.looped = arrival.looped;
    frame.token = Token{frames.size()};
    const ReceiveTime time = arrival.time.value_or(ReceiveTime{now});
    frame.arrival = time.at;
    frame.stamped = time.hardware;
    frames.push_back(frame);
  }
  if (!frames.empty()) engines[index]->handle_frames(now, frames);
  Handoff handoff[8];
  while (const size_t count = engines[index]->poll_handoff(handoff)) {
    for (size_t i = 0; i < count; ++i) {
      const Arrival& arrival = arrivals[static_cast<size_t>(handoff[i].token)];
      inbox[handoff[i].engine].push_back(
          {arrival.bytes, arrival.looped, handoff[i].icrc_good, handoff[i].arrival});
    }
  }
  return frames.size();
}

inline size_t TestDevice::output(uint32_t index) {
  size_t moved = 0;
  for (;;) {
    std::vector<Bytes> rooms(slots_per_poll, Bytes(4500));
    std::vector<TxSlot> slots(slots_per_poll);
    for (size_t i = 0; i < slots_per_poll; ++i) {
      slots[i].room = rooms[i].data();
      slots[i].capacity = static_cast<uint32_t>(rooms[i].size());
    }
    const size_t count = engines[index]->poll_frames(now, slots);
    moved += count;
    for (size_t i = 0; i < count; ++i) {
      rooms[i].resize(slots[i].length);
      if (slots[i].route != Route::kWire) inbox[index].push_back({rooms[i], true, false});
      if (slots[i].route != Route::kLocal) outbox.push_back(std::move(rooms[i]));
    }
    if (count < slots_per_poll) return moved;
  }
}

inline size_t TestDevice::turn() {
  size_t moved = 0;
  for (uint32_t i = 0; i < options.engines; ++i) {
    moved += input(i);
    if (engines[i]->poll_timeout() <= now) engines[i]->handle_timeout(now);
    moved += output(i);
  }
  for (const auto& queue : inbox) moved += queue.size();
  return moved;
}

// --- RC ---

struct TestPeer {
  Gid address;
  MacAddress mac;
  Qpn qpn;
  bool local = false;  // in the same device
};

// The first PSN that a queue pair sends.
inline Psn first_psn(Qpn sender) { return Psn(sender.value() + 100); }

// One side of a connection, RC or UC, to RTS or as far as `state` says.
inline void connect_to(TestQp& own, const TestPeer& peer, uint8_t timeout = 14,
                       QpState state = QpState::kRts) {
  using namespace transport;
  const bool reliable = own.type == QpType::kRc;
  QpAttributes x;
  x.state = QpState::kInit;
  x.access = memory::kRemoteWrite | memory::kRemoteRead;
  ASSERT_EQ(own.device.modify(own, x, kAttrState | kAttrPkeyIndex | kAttrPort | kAttrAccessFlags),
            0);
  x.state = QpState::kRtr;
  x.av = address_vector(own.device.ipv4, peer.address, own.device.mac, peer.mac);
  if (peer.local) x.av.route = Route::kLocal;
  x.path_mtu = PathMtu::k1024;
  x.dest_qpn = peer.qpn;
  x.rq_psn = first_psn(peer.qpn);
  x.dest_rd_atomic_max = 4;
  x.min_rnr_timer = 1;
  const uint32_t answers = reliable ? kAttrMaxDestRdAtomic | kAttrMinRnrTimer : 0u;
  ASSERT_EQ(own.device.modify(
                own, x, kAttrState | kAttrAv | kAttrPathMtu | kAttrDestQpn | kAttrRqPsn | answers),
            0);
  if (state == QpState::kRtr) return;
  x.state = QpState::kRts;
  x.timeout = timeout;
  x.retry_count = 3;
  x.rnr_retry = 7;
  x.sq_psn = first_psn(own.qpn);
  x.rd_atomic_max = 4;
  const uint32_t retries =
      reliable ? kAttrTimeout | kAttrRetryCnt | kAttrRnrRetry | kAttrMaxQpRdAtomic : 0u;
  ASSERT_EQ(own.device.modify(own, x, kAttrState | kAttrSqPsn | retries), 0);
}

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_ENGINE_FIXTURE_H
