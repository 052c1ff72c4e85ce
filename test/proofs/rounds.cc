// SPDX-License-Identifier: BSD-3-Clause
// Rounds of traffic that touch nothing but verbs and memory.
#include "test/proofs/rounds.h"

#include <x86intrin.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace uroce::proofs {
namespace {

constexpr uint32_t kBytes = 64;
constexpr uint32_t kQkey = 0x11111111;
constexpr uint32_t kReceive = 128;          // offset of the receive buffer
constexpr uint64_t kPatience = 1ull << 36;  // ticks: some 20 s

}  // namespace

uroce_context* start(bool worker) {
  std::vector<const char*> arguments = {"proof", "--no-huge",   "--no-pci",       "-m",
                                        "256",   "--no-shconf", "--no-telemetry", "--lcores"};
  arguments.push_back(worker ? "0,1" : "0");
  for (const char* word :
       {"--", "--mode", worker ? "worker" : "inline", "--rings", "1", "--port",
        "net_ring_u0,address=10.0.0.1/24", "--port", "net_ring_u1,address=10.0.0.2/24"}) {
    arguments.push_back(word);
  }
  uroce_context* context = nullptr;
  if (uroce_start(static_cast<int>(arguments.size()), arguments.data(), &context) != 0) {
    std::fprintf(stderr, "proof: %s\n", uroce_error());
    return nullptr;
  }
  return context;
}

app::EndpointOptions Rounds::options(ib_qp_type type) {
  app::EndpointOptions result;
  result.type = type;
  return result;
}

Rounds::Rounds(uroce_context* context, bool worker)
    : context_(context),
      worker_(worker),
      left_(uroce_device(context, 0), options(IB_QPT_RC)),
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
  rdma_ah_attr attr{};
  attr.port_num = 1;
  attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  ib_gid peer = to.gid;
  rdma_ah_set_grh(&attr, &peer, 0, static_cast<uint8_t>(from.index), 64, 0);
  ah_ = app::check(rdma_create_ah(datagram_left_.pd(), &attr, 0), "rdma_create_ah");
}

Rounds::~Rounds() { rdma_destroy_ah(ah_, 0); }

bool Rounds::send(app::Endpoint& from, uint32_t number) {
  std::memcpy(from.buffer(), &number, sizeof number);
  ib_sge sge = from.sge(0, kBytes);
  ib_send_wr wr{};
  wr.opcode = IB_WR_SEND;
  wr.send_flags = IB_SEND_SIGNALED;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  return ib_post_send(from.qp(), &wr, nullptr) == 0;
}

bool Rounds::send_datagram(uint32_t number) {
  std::memcpy(datagram_left_.buffer(), &number, sizeof number);
  ib_sge sge = datagram_left_.sge(0, kBytes);
  ib_ud_wr wr{};
  wr.wr.opcode = IB_WR_SEND;
  wr.wr.send_flags = IB_SEND_SIGNALED;
  wr.wr.sg_list = &sge;
  wr.wr.num_sge = 1;
  wr.ah = ah_;
  wr.remote_qpn = datagram_right_.qp()->qp_num;
  wr.remote_qkey = kQkey;
  return ib_post_send(datagram_left_.qp(), &wr.wr, nullptr) == 0;
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

bool Rounds::finish(app::Endpoint& at, uint32_t sends, uint32_t receives, uint32_t number) {
  const uint64_t start = __rdtsc();
  while (sends + receives > 0) {
    if (worker_) {
      _mm_pause();
    } else {
      uroce_poll(context_);
    }
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

bool Rounds::run(uint32_t rounds) {
  for (uint32_t i = 0; i < rounds; ++i) {
    const uint32_t number = ++number_;
    if (!send(left_, number) || !send_datagram(number)) return false;
    if (!finish(right_, 0, 1, number) || !send(right_, number)) return false;
    if (!finish(left_, 1, 1, number) || !finish(right_, 1, 0, number)) return false;
    if (!finish(datagram_right_, 0, 1, number) || !finish(datagram_left_, 1, 0, number)) {
      return false;
    }
  }
  return true;
}

}  // namespace uroce::proofs
