// SPDX-License-Identifier: BSD-3-Clause
// Two engines and a link of 25 Gb/s.
//
// A frame waits until the one before it has left, takes its own bytes and 24 more (preamble, FCS,
// gap), and arrives half a round trip later, unless it is lost. A host fills its port's queue only
// a few microseconds ahead, as a transmit ring would; its own work takes no time. Time goes from
// event to event: an arrival, a timer, room in the queue. All of it is integers and one generator,
// so a case has one result for ever.
#include "test/sim/goodput.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "base/aligned_block_fixture.h"
#include "base/random.h"
#include "engine/engine.h"
#include "transport/qp_memory.h"
#include "wire/emit.h"

namespace uroce::sim {
namespace {

using transport::QpState;

constexpr int64_t kPicosecondsPerByte = 320;  // 25 Gb/s
constexpr uint32_t kFrameOverheadBytes = 24;
constexpr Duration kQueueAhead = std::chrono::microseconds(3);
constexpr uint32_t kBufferBytes = 1u << 20;
constexpr uint32_t kPd = 7;
constexpr Key kKey{0x0102};
constexpr Psn kFirstPsn{0xFFFE00};  // wraps on the way
constexpr Duration kGiveUp = std::chrono::seconds(60);
constexpr Duration kGrowsAt = std::chrono::milliseconds(1);

struct Flying {
  Time arrival;
  std::vector<uint8_t> bytes;
};

// One direction of the link.
class Wire {
 public:
  Wire(const GoodputCase& c, uint64_t seed)
      : one_way_(c.round_trip / 2),
        longer_one_way_(c.longer_round_trip / 2),
        loss_ppm_(c.loss_ppm),
        random_(seed) {}

  bool has_room(Time now) const {
    return Time(Duration(busy_until_ps_ / 1000)) <= now + kQueueAhead;
  }
  Time room_at() const { return Time(Duration(busy_until_ps_ / 1000)) - kQueueAhead; }
  void send(Time now, const uint8_t* bytes, uint32_t length) {
    const int64_t start_ps = std::max(busy_until_ps_, now.time_since_epoch().count() * 1000);
    busy_until_ps_ = start_ps + int64_t{length + kFrameOverheadBytes} * kPicosecondsPerByte;
    if (random_.below(1'000'000) < loss_ppm_) return;
    const bool longer = longer_one_way_ != Duration{} && now >= Time(kGrowsAt);
    const Time arrival =
        Time(Duration((busy_until_ps_ + 999) / 1000)) + (longer ? longer_one_way_ : one_way_);
    flying.push_back({arrival, {bytes, bytes + length}});
  }
  Time next_arrival() const { return flying.empty() ? kNever : flying.front().arrival; }

  std::deque<Flying> flying;

 private:
  const Duration one_way_;
  const Duration longer_one_way_;
  const uint32_t loss_ppm_;
  Random random_;
  int64_t busy_until_ps_ = 0;
};

// An engine with one queue pair.
class End {
 public:
  End(uint8_t number, const engine::EngineConfig& base, uint32_t depth)
      : memory(kBufferBytes), number_(number) {
    shared_.keys = &keys_;
    shared_.engine_count = 1;
    shared_.qp_slots_per_engine = 8;
    shared_.groups = std::make_unique<engine::GroupPresence>(1, 1);
    const uint32_t rights = memory::kLocalWrite | memory::kRemoteWrite;
    keys_.publish(kKey, {memory.data(), reinterpret_cast<uint64_t>(memory.data()), memory.size(),
                         kPd, rights});
    engine::EngineConfig config = base;
    config.shared = &shared_;
    config.own_port = false;
    config.exclusive = true;
    config.mac = mac(number);
    engine_ = std::make_unique<engine::Engine>(config);
    const transport::QpCapabilities capabilities{depth, 1, 1, 1, 0};
    queue_block_ = aligned_block(transport::qp_memory_bytes(transport::QpType::kRc, capabilities));
    cq_block_ = aligned_block(transport::cq_memory_bytes(2 * depth, 1));
    queues_ = transport::carve_qp_memory(transport::QpType::kRc, capabilities, queue_block_.get());
    cq_ = transport::carve_cq_memory(2 * depth, 1, cq_block_.get());
    cq_->user = cq_;
    room_.resize(8192);
  }

  static MacAddress mac(uint8_t number) { return {{2, 0, 0, 0, 0, number}}; }
  static Gid address(uint8_t number) { return Gid::from_ipv4(0x0A000000u + number); }
  static Qpn qpn(uint8_t number) { return Qpn(0x100u | number); }

  bool connect(uint8_t peer, PathMtu mtu) {
    const engine::LocalAddress addresses[] = {{address(number_), 24}};
    engine::SetAddressesCommand set;
    set.addresses = addresses;
    engine::CreateQpCommand create;
    create.qpn = qpn(number_);
    create.pd = kPd;
    create.signal_all = true;
    create.queues = queues_;
    create.user = this;
    create.send_cq = create.recv_cq = cq_;
    engine_->handle_command(Time{}, set);
    engine_->handle_command(Time{}, create);
    transport::QpAttributes a;
    a.access = memory::kRemoteWrite;
    wire::AddressFields fields;
    fields.source = mac(number_);
    fields.destination = mac(peer);
    fields.sgid = address(number_);
    fields.dgid = address(peer);
    fields.udp_source_port = 0xC123;
    a.av.headers = wire::make_header_template(fields);
    a.av.sgid = fields.sgid;
    a.av.dgid = fields.dgid;
    a.path_mtu = mtu;
    a.dest_qpn = qpn(peer);
    a.rq_psn = a.sq_psn = kFirstPsn;
    a.timeout = 10;  // 4.2 ms
    a.retry_count = 7;
    a.rnr_retry = 7;
    a.min_rnr_timer = 1;
    using namespace transport;
    return modify(a, QpState::kInit, kAttrPkeyIndex | kAttrPort | kAttrAccessFlags) &&
           modify(a, QpState::kRtr,
                  kAttrAv | kAttrPathMtu | kAttrDestQpn | kAttrRqPsn | kAttrMaxDestRdAtomic |
                      kAttrMinRnrTimer) &&
           modify(a, QpState::kRts,
                  kAttrTimeout | kAttrRetryCnt | kAttrRnrRetry | kAttrSqPsn | kAttrMaxQpRdAtomic);
  }

  void post_write(uint32_t length, uint64_t to) {
    transport::SendQueue& queue = queues_->send;
    const uint32_t index = queue.producer.load();
    transport::SendWqe& wqe = queue.wqe(index);
    wqe = {};
    wqe.opcode = transport::WrOpcode::kRdmaWrite;
    wqe.remote_address = to;
    wqe.rkey = kKey.value();
    wqe.length = length;
    wqe.sge_count = 1;
    *reinterpret_cast<memory::Sge*>(queue.payload_area(wqe)) = {
        reinterpret_cast<uint64_t>(memory.data()), length, kKey.value()};
    queue.producer.store(index + 1);
    engine_->doorbells().ring(qpn(number_).value() & 7);
  }
  // Completions since the last call; `good` becomes false with the first that failed.
  uint64_t completed(bool& good) {
    uint64_t count = 0;
    transport::cq_poll(*cq_, 4096, [&](const transport::Cqe& cqe) {
      good = good && cqe.status == transport::WcStatus::kSuccess;
      ++count;
    });
    return count;
  }

  void receive(Time now, Wire& from) {
    while (from.next_arrival() <= now) {
      const Flying frame = std::move(from.flying.front());
      from.flying.pop_front();
      RxFrame rx;
      rx.bytes = frame.bytes.data();
      rx.length = static_cast<uint32_t>(frame.bytes.size());
      rx.arrival = now;
      engine_->handle_frames(now, {&rx, 1});
    }
    if (engine_->poll_timeout() <= now) engine_->handle_timeout(now);
  }
  void transmit(Time now, Wire& to) {
    while (to.has_room(now)) {
      TxSlot slot;
      slot.room = room_.data();
      slot.capacity = static_cast<uint32_t>(room_.size());
      if (engine_->poll_frames(now, {&slot, 1}) == 0) return;
      to.send(now, slot.room, slot.length);
    }
  }
  // When this end has something to do, the arrival of frames aside.
  Time next(Time now, const Wire& to) const {
    const Time timer = engine_->poll_timeout();
    return engine_->has_output(now) ? std::min(timer, std::max(to.room_at(), now + Duration(1)))
                                    : timer;
  }
  const transport::TransportCounters& counters() const { return engine_->counters(); }

  std::vector<uint8_t> memory;

 private:
  bool modify(transport::QpAttributes& attributes, QpState state, uint32_t mask) {
    attributes.state = state;
    engine::ModifyQpCommand command;
    command.qpn = qpn(number_);
    command.attributes = attributes;
    command.mask = mask | transport::kAttrState;
    engine_->handle_command(Time{}, command);
    return command.result == 0;
  }

  const uint8_t number_;
  memory::KeyTable keys_{4};
  engine::DeviceShared shared_;
  std::unique_ptr<engine::Engine> engine_;
  AlignedBlock queue_block_;
  AlignedBlock cq_block_;
  transport::QpQueues* queues_ = nullptr;
  transport::CompletionQueue* cq_ = nullptr;
  std::vector<uint8_t> room_;
};

engine::EngineConfig requester_config(Parties parties) {
  engine::EngineConfig config;
  config.selective_repeat = parties == Parties::kBothUroce || parties == Parties::kStrictPeer;
  config.tail_probe = parties != Parties::kPlainGoBackN;
  return config;
}

engine::EngineConfig responder_config(Parties parties) {
  engine::EngineConfig config;
  if (parties != Parties::kBothUroce) config.kept_packets_max = 0;
  return config;
}

// Messages at once: 4 MiB of them, far more than the link holds.
uint32_t depth_of(const GoodputCase& c) {
  return std::clamp((4u << 20) / c.message_bytes, 8u, 512u);
}

void fill(std::vector<uint8_t>& bytes) {
  Random random(42);
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const uint64_t word = random.next64();
    std::memcpy(&bytes[i], &word, sizeof word);
  }
}

}  // namespace

Goodput measure_goodput(const GoodputCase& c) {
  Goodput result;
  const uint32_t depth = depth_of(c);
  const uint64_t messages = c.total_bytes / c.message_bytes;
  End left(1, requester_config(c.parties), depth);
  End right(2, responder_config(c.parties), 8);
  Wire there(c, 2 * c.seed);
  Wire back(c, 2 * c.seed + 1);
  if (!left.connect(2, c.mtu) || !right.connect(1, c.mtu)) return {.failure = "no connection"};
  fill(left.memory);
  Time now{};
  uint64_t posted = 0;
  uint64_t done = 0;
  bool good = true;
  while (done < messages && good && now < Time(kGiveUp)) {
    left.receive(now, back);
    right.receive(now, there);
    done += left.completed(good);
    for (; posted < messages && posted - done < depth; ++posted) {
      left.post_write(c.message_bytes, reinterpret_cast<uint64_t>(right.memory.data()));
    }
    left.transmit(now, there);
    right.transmit(now, back);
    const Time next = std::min(
        {there.next_arrival(), back.next_arrival(), left.next(now, there), right.next(now, back)});
    if (done < messages && next == kNever) return {.failure = "nobody waits for anything"};
    if (done < messages) now = next;
  }
  result.elapsed = now - Time{};
  result.gbit_per_s = static_cast<double>(done * c.message_bytes) * 8 /
                      static_cast<double>(std::max<int64_t>(result.elapsed.count(), 1));
  result.frames_sent = left.counters().sent_packets.value();
  result.sent_again = left.counters().retransmitted_packets.value();
  result.probes = left.counters().tail_probes.value();
  result.timeouts = left.counters().local_ack_timeout_err.value();
  if (!good || done < messages) result.failure = "messages failed or never ended";
  if (!std::equal(left.memory.begin(), left.memory.begin() + c.message_bytes,
                  right.memory.begin())) {
    result.failure = "the bytes are not those that were sent";
  }
  return result;
}

}  // namespace uroce::sim
