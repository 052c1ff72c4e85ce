// SPDX-License-Identifier: BSD-3-Clause
// The thread, its turns and its one frame.
#include "test/perf/busy_engine.h"

#include <chrono>

#include "group/mgid.h"
#include "wire/emit.h"
#include "wire/headers.h"

namespace uroce::perf {
namespace {

// A datagram of 64 bytes to the group of the load.
std::vector<uint8_t> make_frame() {
  wire::AddressFields fields;
  fields.source = {{2, 0, 0, 0, 0, 2}};
  fields.destination = group::mac_of(kLoadGroup);
  fields.sgid = Gid::from_ipv4(0x0A000002);
  fields.dgid = kLoadGroup;
  fields.udp_source_port = 0xC000;
  const wire::HeaderTemplate headers = wire::make_header_template(fields);
  std::vector<uint8_t> frame(256);
  uint8_t* bth = wire::emit_headers(frame.data(), headers, 12 + 8 + 64 + 4, 1);
  store_be32(bth, 0x6440FFFF);
  store_be32(bth + 4, kMulticastQpn.value());
  store_be32(bth + 8, 1);
  store_be32(bth + 12, kLoadQkey);
  store_be32(bth + 16, 0x13);
  frame.resize(wire::finish_icrc(frame.data(), 14, false, 62 + 64));
  return frame;
}

}  // namespace

Time BusyEngine::now() {
  return Time(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

BusyEngine::BusyEngine(engine::EngineSeat& seat)
    : seat_(seat), frame_(make_frame()), rooms_(kBurst, std::vector<uint8_t>(9216)) {
  RxFrame rx;
  rx.bytes = frame_.data();
  rx.length = static_cast<uint32_t>(frame_.size());
  frames_.fill(rx);
  thread_ = std::thread([this] { run(); });
}

BusyEngine::~BusyEngine() {
  stopping_.store(true, std::memory_order_release);
  set_load(Load::kIdle);
  thread_.join();
}

void BusyEngine::set_load(Load load) {
  load_.store(load, std::memory_order_release);
  load_.notify_one();
}

void BusyEngine::run() {
  while (!stopping_.load(std::memory_order_acquire)) {
    const Load load = load_.load(std::memory_order_acquire);
    if (load == Load::kParked) {
      load_.wait(load);
      continue;
    }
    turn(now(), load == Load::kFull);
    if (load == Load::kIdle) std::this_thread::yield();
  }
}

// In the order of lib/worker/loop.cc.
void BusyEngine::turn(Time time, bool full) {
  engine::Engine& engine = seat_.engine();
  seat_.epoch().begin_turn(false);
  if (full) engine.handle_frames(time, frames_);
  engine::Command* command = nullptr;
  for (int i = 0; i < 8 && seat_.mailbox().pop(command); ++i) engine.handle_command(time, *command);
  if (engine.poll_timeout() <= time) engine.handle_timeout(time);
  if (engine.has_output(time)) transmit(time);
  seat_.epoch().end_turn();
  while (engine.poll_event()) {
  }
}

// What would be sent is written, and forgotten.
void BusyEngine::transmit(Time time) {
  std::array<TxSlot, kBurst> slots;
  for (size_t i = 0; i < slots.size(); ++i) {
    slots[i].room = rooms_[i].data();
    slots[i].capacity = static_cast<uint32_t>(rooms_[i].size());
  }
  seat_.engine().poll_frames(time, slots);
}

}  // namespace uroce::perf
