// SPDX-License-Identifier: BSD-3-Clause
// One instruction.
#include "test/fuzz/engine/steps.h"

#include <algorithm>
#include <cstring>

#include "test/fuzz/engine/packets.h"

namespace uroce::fuzz {
namespace {

Slot next_slot(Program& program) { return static_cast<Slot>(program.byte() % kSlotCount); }

// Copied to a block of exactly its size, so that AddressSanitizer sees the first byte read too far.
void deliver(FuzzHost& host, std::vector<uint8_t> frame, bool turn) {
  frame.shrink_to_fit();
  host.host().receive(frame);
  if (turn) host.settle();
}

void raw_frame(FuzzHost& host, Program& program) {
  const std::span<const uint8_t> bytes = program.bytes(program.byte());
  if (bytes.empty()) return;
  deliver(host, {bytes.begin(), bytes.end()}, true);
}

// 1 ns … 17 s.
void pass_time(FuzzHost& host, Program& program) {
  const unsigned exponent = program.byte() % 34u;
  host.advance(Duration((int64_t{1} << exponent) + (int64_t{program.byte()} << exponent >> 8)));
}

void arm(FuzzHost& host, Program& program) {
  CqSlot& cq = host.cq(program.byte());
  const uint8_t choice = program.byte();
  if (choice % 4 == 3) {
    const uint8_t period = program.byte();
    rdma_set_cq_moderation(cq.cq, choice / 4, period);
    cq.moderated = true;
    return;
  }
  if (choice % 4 == 2) {
    ib_req_notify_cq(cq.cq, IB_CQ_SOLICITED);
    return;
  }
  host.settle();
  host.poll(cq);
  constexpr auto kFlags =
      static_cast<ib_cq_notify_flags>(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
  cq.notified = false;
  cq.armed = ib_req_notify_cq(cq.cq, kFlags) == 0;
}

void reconnect(FuzzHost& host, Program& program) {
  const Slot which = next_slot(program);
  QpSlot& slot = host.slot(which);
  if (slot.qp == nullptr) return;
  const uint8_t choice = program.byte();
  Connection connection;
  connection.mtu = static_cast<ib_mtu>(IB_MTU_256 + choice % 5);
  connection.ipv6 = (choice & 0x80) != 0;
  connection.first_psn = program.number();
  connection.timeout = program.byte() % 32;
  connection.retries = program.byte() % 8;
  connection.rd_atomic = program.byte() % 17;
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RESET;
  if (host.modify(slot, attr, IB_QP_STATE) == 0) host.connect(which, connection);
}

// An address vector, good or bad; without a MAC address the network is asked.
void fill_path(FuzzHost& host, rdma_ah_attr& attr, Program& program) {
  const uint8_t choice = program.byte();
  const Gid gid = FuzzHost::peer_gid((choice & 1) != 0);
  ib_gid dgid;
  std::memcpy(dgid.raw, gid.bytes.data(), sizeof dgid.raw);
  if ((choice & 2) != 0) dgid.raw[15] = host.host().number();
  attr.port_num = 1;
  attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  rdma_ah_set_grh(&attr, &dgid, choice, (choice >> 2) % 4, 64, choice);
  const MacAddress mac = FuzzHost::peer_mac();
  if (choice < 0xF0) std::copy(mac.bytes.begin(), mac.bytes.end(), attr.roce.dmac);
}

// To a state without attributes, or with any of them.
void modify(FuzzHost& host, Program& program) {
  QpSlot& slot = host.slot(program.byte());
  if (slot.qp == nullptr) return;
  ib_qp_attr attr{};
  const uint8_t state = program.byte();
  attr.qp_state = static_cast<ib_qp_state>(state % 8);
  if (state < 0x80) {
    host.modify(slot, attr, IB_QP_STATE);
    return;
  }
  const int mask = static_cast<int>(program.number() & 0x3FFFFF);
  attr.cur_qp_state = static_cast<ib_qp_state>(program.byte() % 8);
  attr.path_mtu = static_cast<ib_mtu>(program.byte() % 7);
  attr.qp_access_flags = program.word();
  attr.rq_psn = attr.sq_psn = program.number();
  attr.dest_qp_num = FuzzHost::kPeerQpn + program.byte() % 16u;
  attr.qkey = FuzzHost::kQkey;
  attr.port_num = 1;
  attr.en_sqd_async_notify = 1;
  attr.timeout = program.byte() % 33;
  attr.retry_cnt = attr.rnr_retry = program.byte() % 9;
  attr.min_rnr_timer = program.byte() % 33;
  attr.max_rd_atomic = attr.max_dest_rd_atomic = program.byte() % 18;
  if ((mask & IB_QP_AV) != 0) fill_path(host, attr.ah_attr, program);
  if (host.modify(slot, attr, mask) == 0 && (mask & IB_QP_PATH_MTU) != 0) slot.mtu = attr.path_mtu;
}

// And makes it again, connected or not.
void destroy(FuzzHost& host, Program& program) {
  const Slot which = next_slot(program);
  const uint8_t choice = program.byte();
  if (host.destroy(which) != 0 || choice % 4 == 3) return;
  if (host.slot(which).qp == nullptr) host.create(which);
  if (choice % 4 != 2) host.connect(which, {});
}

void group(FuzzHost& host, Program& program) {
  QpSlot& slot = host.slot(program.byte());
  if (slot.qp == nullptr) return;
  const uint8_t choice = program.byte();
  ib_gid gid = FuzzHost::group(choice / 2);
  if (choice % 2 == 0) {
    ib_attach_mcast(slot.qp, &gid, 0);
  } else {
    ib_detach_mcast(slot.qp, &gid, 0);
  }
}

void memory(FuzzHost& host, Program& program) {
  Arena& arena = host.arena();
  const uint8_t choice = program.byte();
  const int access = program.word();
  switch (choice % 4) {
    case 0:
      return arena.replace_open(access);
    case 1:
      return arena.replace_window(choice / 4);
    default:
      return arena.change_open(choice >> 2, program.word(), program.word(), access);
  }
}

void resize(FuzzHost& host, Program& program) {
  const uint8_t choice = program.byte();
  const uint8_t size = program.byte();
  if (choice % 8 < 3) {
    ib_resize_cq(host.cq(choice % 8).cq, size);
    return;
  }
  ib_srq_attr attr{};
  attr.max_wr = size % 32;
  attr.srq_limit = size / 32;
  ib_modify_srq(host.srq(choice % 2 == 0), &attr, static_cast<ib_srq_attr_mask>(choice / 8 % 4));
}

void query(FuzzHost& host, Program& program) {
  const QpSlot& slot = host.slot(program.byte());
  std::vector<device::QpSummary> qps;
  host.host().rdma_device().list_qps(qps);
  if (slot.qp == nullptr) return;
  ib_qp_attr attr;
  ib_qp_init_attr init;
  ib_query_qp(slot.qp, &attr, 0, &init);
}

}  // namespace

void run_step(FuzzHost& host, Program& program) {
  const auto step = static_cast<Step>(program.byte() % static_cast<uint8_t>(Step::kStepCount));
  switch (step) {
    case Step::kPacket:
    case Step::kPacketOnly:
      return deliver(host, make_packet(host, program), step == Step::kPacket);
    case Step::kFrame:
      return raw_frame(host, program);
    case Step::kTime:
      return pass_time(host, program);
    case Step::kSend:
      post_send(host, program);
      return host.settle();
    case Step::kReceive:
      return post_receive(host, next_slot(program), program);
    case Step::kReceives:
      return post_receives(host);
    case Step::kPoll:
      host.settle();
      host.poll_all();
      return host.arena().check_untouched();
    case Step::kArm:
      return arm(host, program);
    case Step::kReconnect:
      return reconnect(host, program);
    case Step::kModify:
      return modify(host, program);
    case Step::kDestroy:
      return destroy(host, program);
    case Step::kGroup:
      return group(host, program);
    case Step::kMemory:
      return memory(host, program);
    case Step::kResize:
      return resize(host, program);
    default:
      return query(host, program);
  }
}

}  // namespace uroce::fuzz
