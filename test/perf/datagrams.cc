// SPDX-License-Identifier: BSD-3-Clause
// UD send and receive through the verbs, in bursts, as an application that counts nanoseconds
// would.
#include "test/perf/datagrams.h"

#include <cstring>
#include <stdexcept>

namespace uroce::perf {
namespace {

constexpr uint32_t kQkey = 0x11111111;
constexpr uint32_t kGrh = 40;

app::EndpointOptions options(uint32_t buffer_bytes, uint32_t recvs) {
  app::EndpointOptions result;
  result.type = IB_QPT_UD;
  result.buffer_bytes = buffer_bytes;
  result.send_wr = 128;
  result.recv_wr = recvs;
  result.inline_bytes = 0;
  return result;
}

}  // namespace

Datagrams::Datagrams(uroce_context* context, uint32_t payload_bytes)
    : context_(context),
      payload_bytes_(payload_bytes),
      slot_bytes_((payload_bytes + kGrh + 63) / 64 * 64),
      sender_(uroce_device(context, 0), options(payload_bytes, kRecvs)),
      receiver_(uroce_device(context, 1), options(slot_bytes_ * kRecvs, kRecvs)),
      ah_(sender_, app::ipv4_gid(receiver_.device()).gid, app::ipv4_gid(sender_.device()).index) {
  sender_.activate(kQkey);
  receiver_.activate(kQkey);
  for (uint32_t i = 0; i < payload_bytes; ++i)
    sender_.buffer()[i] = static_cast<uint8_t>(7 * i + 1);
  for (uint32_t i = 0; i < kRecvs; ++i) {
    receiver_.post_recv(i * slot_bytes_, payload_bytes_ + kGrh, i);
  }
  prepare_requests();
}

void Datagrams::prepare_requests() {
  send_sge_ = sender_.sge(0, payload_bytes_);
  sends_.resize(kBurstMax);
  // A receive request for each buffer, made once: an application that counts nanoseconds does so.
  recv_sges_.resize(kRecvs);
  recvs_.resize(kRecvs);
  for (uint32_t i = 0; i < kRecvs; ++i) {
    recv_sges_[i] = receiver_.sge(i * slot_bytes_, payload_bytes_ + kGrh);
    recvs_[i].wr_id = i;
    recvs_[i].sg_list = &recv_sges_[i];
    recvs_[i].num_sge = 1;
  }
  for (uint32_t i = 0; i < kBurstMax; ++i) {
    ib_ud_wr& wr = sends_[i];
    wr.wr.opcode = IB_WR_SEND;
    wr.wr.sg_list = &send_sge_;
    wr.wr.num_sge = 1;
    wr.ah = ah_.get();
    wr.remote_qpn = receiver_.qp()->qp_num;
    wr.remote_qkey = kQkey;
  }
}

uint32_t Datagrams::round(uint32_t burst) {
  for (uint32_t i = 0; i < burst; ++i) {
    sends_[i].wr.next = i + 1 < burst ? &sends_[i + 1].wr : nullptr;
    sends_[i].wr.send_flags = i + 1 < burst ? 0 : IB_SEND_SIGNALED;
  }
  app::check(ib_post_send(sender_.qp(), &sends_[0].wr, nullptr), "ib_post_send");
  uint32_t received = 0;
  ib_wc wc[kBurstMax];
  for (uint32_t turn = 0; received < burst; ++turn) {
    if (turn > 1000) throw std::runtime_error("datagrams were lost on a memory ring");
    uroce_poll(context_);
    const int count = ib_poll_cq(receiver_.cq(), kBurstMax, wc);
    ib_recv_wr* first = nullptr;
    for (int i = count - 1; i >= 0; --i) {
      ib_recv_wr* again = &recvs_[wc[i].wr_id];
      again->next = first;
      first = again;
    }
    if (count > 0) {
      last_slot_ = wc[count - 1].wr_id;
      app::check(ib_post_recv(receiver_.qp(), first, nullptr), "ib_post_recv");
    }
    received += static_cast<uint32_t>(count);
  }
  while (ib_poll_cq(sender_.cq(), kBurstMax, wc) == 0) uroce_poll(context_);
  return received;
}

bool Datagrams::check() {
  const uint8_t* at = receiver_.buffer() + last_slot_ * slot_bytes_ + kGrh;
  return std::memcmp(at, sender_.buffer(), payload_bytes_) == 0;
}

}  // namespace uroce::perf
