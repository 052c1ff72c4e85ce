// SPDX-License-Identifier: BSD-3-Clause
// Rounds of traffic that touch nothing but verbs and memory.
#include "test/proofs/rounds.h"

#include <x86intrin.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>

#include "common/ring_pair.h"

namespace uroce::proofs {
namespace {

constexpr uint32_t kBytes = 64;
constexpr uint32_t kQkey = 0x11111111;
constexpr uint32_t kReceive = 128;          // offset of the receive buffer
constexpr uint64_t kPatience = 1ull << 36;  // ticks: some 20 s

}  // namespace

Place find_place(bool worker) { return {worker, app::allowed_cpus().size() < 2}; }

uroce_context* start(const Place& place) {
  return app::start_ring_pair({.program = "proof", .worker = place.worker});
}

int prove(const char* name, int argc, char** argv, int (*run)(bool worker, bool broken)) {
  try {
    return run(argc > 1 && std::strcmp(argv[1], "worker") == 0,
               argc > 2 && std::strcmp(argv[2], "--break") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

app::EndpointOptions Rounds::options(ib_qp_type type) {
  app::EndpointOptions result;
  result.type = type;
  return result;
}

app::EndpointOptions Rounds::notified_options() {
  app::EndpointOptions result = options(IB_QPT_RC);
  result.comp_handler = [](ib_cq*, void* calls) {
    static_cast<std::atomic<uint64_t>*>(calls)->fetch_add(1, std::memory_order_release);
  };
  result.comp_context = &handled_;
  return result;
}

Rounds::Rounds(uroce_context* context, const Place& place)
    : context_(context),
      place_(place),
      left_(uroce_device(context, 0), notified_options()),
      right_(uroce_device(context, 1), options(IB_QPT_RC)),
      datagram_left_(uroce_device(context, 0), options(IB_QPT_UD)),
      datagram_right_(uroce_device(context, 1), options(IB_QPT_UD)) {
  const app::GidEntry from = app::ipv4_gid(left_.device());
  const app::GidEntry to = app::ipv4_gid(right_.device());
  left_.connect(to.gid, right_.qp()->qp_num, IB_MTU_4096, 1, from.index);
  right_.connect(from.gid, left_.qp()->qp_num, IB_MTU_4096, 1, to.index);
  datagram_left_.activate(kQkey);
  datagram_right_.activate(kQkey);
  for (app::Endpoint* end : {&left_, &right_, &datagram_right_}) {
    end->post_recv(kReceive, kBytes + 40, 0);
  }
  ah_.emplace(datagram_left_, to.gid, from.index);
}

bool Rounds::send(app::Endpoint& from, uint32_t number) {
  std::memcpy(from.buffer(), &number, sizeof number);
  return from.post_send({0, kBytes}) == 0;
}

bool Rounds::send_datagram(uint32_t number) {
  std::memcpy(datagram_left_.buffer(), &number, sizeof number);
  return datagram_left_.post_datagram({0, kBytes},
                                      {ah_->get(), datagram_right_.qp()->qp_num, kQkey}) == 0;
}

// A receive holds the number that was sent; its buffer is posted again.
bool Rounds::judge(app::Endpoint& at, const ib_wc& wc, uint32_t number) {
  if (wc.status != IB_WC_SUCCESS) return false;
  if (wc.opcode != IB_WC_RECV) return true;
  const uint32_t grh = at.qp()->qp_type == IB_QPT_UD ? 40 : 0;
  if (wc.byte_len != kBytes + grh) return false;
  if (std::memcmp(at.buffer() + kReceive + grh, &number, sizeof number) != 0) return false;
  at.post_recv(kReceive, kBytes + 40, 0);
  return true;
}

void Rounds::wait() const {
  if (!place_.worker) {
    uroce_poll(context_);
  } else if (place_.sleeps()) {
    constexpr timespec kMoment{0, 20'000};
    nanosleep(&kMoment, nullptr);
  } else {
    _mm_pause();
  }
}

bool Rounds::finish(app::Endpoint& at, uint32_t sends, uint32_t receives, uint32_t number) {
  const uint64_t start = __rdtsc();
  while (sends + receives > 0) {
    wait();
    ib_wc wc;
    const int count = ib_poll_cq(at.cq(), 1, &wc);
    if (count == 0) {
      if (__rdtsc() - start > kPatience) return false;
      continue;
    }
    if (count < 0 || !judge(at, wc, number)) return false;
    --(wc.opcode == IB_WC_RECV ? receives : sends);
  }
  return true;
}

bool Rounds::arm() {
  handled_before_ = handled_.load(std::memory_order_acquire);
  return ib_req_notify_cq(left_.cq(), IB_CQ_NEXT_COMP) == 0;
}

bool Rounds::wait_for_handler() {
  const uint64_t start = __rdtsc();
  while (handled_.load(std::memory_order_acquire) == handled_before_) {
    wait();
    if (__rdtsc() - start > kPatience) return false;
  }
  return true;
}

bool Rounds::run(uint32_t rounds) {
  for (uint32_t i = 0; i < rounds; ++i) {
    const uint32_t number = ++number_;
    const bool notified = number % kNotifiedRounds == 0;
    if (notified && !arm()) return false;
    if (!send(left_, number) || !send_datagram(number)) return false;
    if (!finish(right_, 0, 1, number) || !send(right_, number)) return false;
    if (!finish(left_, 1, 1, number) || !finish(right_, 1, 0, number)) return false;
    if (!finish(datagram_right_, 0, 1, number) || !finish(datagram_left_, 1, 0, number)) {
      return false;
    }
    if (notified && !wait_for_handler()) return false;
  }
  return true;
}

}  // namespace uroce::proofs
