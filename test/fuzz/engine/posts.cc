// SPDX-License-Identifier: BSD-3-Clause
// Posting work requests of every opcode.
#include <algorithm>
#include <array>

#include "test/fuzz/engine/steps.h"

namespace uroce::fuzz {
namespace {

constexpr uint32_t kReceiveBytes = 512;
constexpr ib_wr_opcode kOpcodes[] = {IB_WR_SEND,
                                     IB_WR_RDMA_WRITE,
                                     IB_WR_RDMA_READ,
                                     IB_WR_SEND,
                                     IB_WR_RDMA_WRITE,
                                     IB_WR_RDMA_READ,
                                     IB_WR_LOCAL_INV,
                                     IB_WR_REG_MR,
                                     IB_WR_BIND_MW,
                                     IB_WR_FLUSH,
                                     IB_WR_ATOMIC_WRITE,
                                     IB_WR_ATOMIC_CMP_AND_SWP,
                                     IB_WR_SEND_WITH_IMM,
                                     IB_WR_RDMA_WRITE_WITH_IMM,
                                     IB_WR_ATOMIC_FETCH_AND_ADD,
                                     IB_WR_SEND_WITH_INV};

// Every form begins with the same ib_send_wr.
union Request {
  ib_send_wr wr;
  ib_xrc_wr xrc;
  ib_ud_wr ud;
  ib_reg_wr reg;
  ib_bind_mw_wr bind;
};

// A piece of the open region, or one that leaves it, or under a wrong key. What is read without a
// key, inline data and what the local DMA key opens, always lies in the region.
ib_sge piece(Arena& arena, bool inlined, Program& program) {
  const uint8_t choice = program.byte();
  const uint16_t offset = program.word() % 4500u;
  const uint32_t length = program.word() % 2500u;
  if (!inlined && choice % 8 < 4) {
    return {Arena::iova(Arena::kOpen) + offset, length, arena.mr(Arena::kOpen)->lkey};
  }
  const uint32_t begin = offset % Arena::kPartBytes;
  const uint32_t inside = std::min(length, Arena::kPartBytes - begin);
  const auto address = reinterpret_cast<uint64_t>(arena.memory(Arena::kOpen)) + begin;
  if (inlined || choice % 8 < 6) return {address, inside, arena.pd()->local_dma_lkey};
  if (choice % 8 == 6) {
    return {Arena::iova(Arena::kFixed) + offset, length, arena.mr(Arena::kFixed)->lkey};
  }
  return {reinterpret_cast<uint64_t>(arena.memory(Arena::kFast)) + begin, length,
          arena.mr(Arena::kFast)->lkey};
}

void fill_local_operation(Arena& arena, Request& request, Program& program) {
  const uint8_t choice = program.byte();
  const uint32_t begin = program.word() % Arena::kPartBytes;
  const uint32_t length = 1 + program.word() % (Arena::kPartBytes - begin);
  const int access = program.byte() % 16;
  if (request.wr.opcode == IB_WR_REG_MR) {
    ib_mr* const mr = arena.mr(Arena::kFast);
    scatterlist part{reinterpret_cast<uint64_t>(arena.memory(Arena::kFast)) + begin, length};
    ib_map_mr_sg(mr, &part, 1, nullptr, 4096);
    if (choice % 2 != 0) ib_update_fast_reg_key(mr, choice);
    request.reg.mr = mr;
    request.reg.key = mr->lkey;
    request.reg.access = access;
    return;
  }
  ib_mw* const window = arena.window(choice);
  request.bind.mw = window;
  request.bind.rkey = ib_inc_rkey(window->rkey);
  request.bind.bind_info.mr = arena.mr(choice % 8 < 7 ? Arena::kOpen : Arena::kFixed);
  request.bind.bind_info.addr = Arena::iova(Arena::kOpen) + begin;
  request.bind.bind_info.length = choice % 16 < 15 ? length : 0;
  request.bind.bind_info.mw_access_flags = access & ~IB_ACCESS_LOCAL_WRITE;
}

// Where in the peer's memory it goes. The peer is not there: only a queue pair that is connected to
// itself looks at it.
void fill_remote(FuzzHost& host, Request& request, uint32_t length, Program& program) {
  const Arena::Target target = host.arena().target(program.byte());
  const uint64_t address = target.address + static_cast<uint64_t>(program.far_offset());
  ib_xrc_wr& xrc = request.xrc;
  switch (request.wr.opcode) {
    case IB_WR_ATOMIC_CMP_AND_SWP:
    case IB_WR_ATOMIC_FETCH_AND_ADD:
      xrc.atomic.remote_addr = address;
      xrc.atomic.rkey = target.key;
      xrc.atomic.compare_add = program.byte();
      xrc.atomic.swap = program.number();
      break;
    case IB_WR_FLUSH:
      xrc.flush.remote_addr = address;
      xrc.flush.rkey = target.key;
      xrc.flush.length = length;
      xrc.flush.type = 1 + program.byte() % 3u;
      xrc.flush.level = program.byte() % 2u;
      break;
    default:
      xrc.rdma.remote_addr = address;
      xrc.rdma.rkey = target.key;
  }
  request.wr.ex.invalidate_rkey = target.key;
  xrc.remote_srqn = host.srq(true)->ext.xrc.srq_num;
}

void fill_datagram(FuzzHost& host, Request& request, Program& program) {
  const uint8_t choice = program.byte();
  const ib_qp* const own = host.slot(kUd).qp;
  request.ud.ah = host.ah(choice);
  request.ud.remote_qpn = own != nullptr && choice < 128 ? own->qp_num : FuzzHost::kPeerQpn;
  request.ud.remote_qkey = FuzzHost::kQkey;
}

bool is_local(ib_wr_opcode opcode) { return opcode == IB_WR_REG_MR || opcode == IB_WR_BIND_MW; }

// The length of what a request brings or takes, as its opcode allows.
uint32_t list_bytes(ib_wr_opcode opcode, ib_sge (&list)[3], int& count) {
  if (opcode == IB_WR_ATOMIC_CMP_AND_SWP || opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
      opcode == IB_WR_ATOMIC_WRITE) {
    count = 1;
    list[0].addr &= ~uint64_t{7};
    list[0].length = 8;
  }
  uint32_t length = 0;
  for (int i = 0; i < count; ++i) length += list[i].length;
  if (opcode == IB_WR_FLUSH || opcode == IB_WR_LOCAL_INV || is_local(opcode)) count = 0;
  return length;
}

}  // namespace

void post_send(FuzzHost& host, Program& program) {
  QpSlot& slot = host.slot(program.byte());
  if (slot.qp == nullptr) return;
  Request request{};
  ib_send_wr& wr = request.wr;
  wr.opcode = kOpcodes[program.byte() % std::size(kOpcodes)];
  const uint8_t choice = program.byte();
  wr.send_flags = (choice ^ IB_SEND_SIGNALED) & 15;
  const bool inlined = (wr.send_flags & IB_SEND_INLINE) != 0;
  int count = (choice >> 4) % 4;
  ib_sge list[3];
  for (int i = 0; i < count; ++i) list[i] = piece(host.arena(), inlined, program);
  if (count == 0) {
    count = 1;
    list[0] = {Arena::iova(Arena::kOpen), 16, host.arena().mr(Arena::kOpen)->lkey};
    if (inlined) list[0].addr = reinterpret_cast<uint64_t>(host.arena().memory(Arena::kOpen));
  }
  const uint32_t length = list_bytes(wr.opcode, list, count);
  if (slot.qp->qp_type == IB_QPT_UD) {
    fill_datagram(host, request, program);
  } else if (is_local(wr.opcode)) {
    fill_local_operation(host.arena(), request, program);
  } else {
    fill_remote(host, request, length, program);
  }
  wr.sg_list = list;
  wr.num_sge = count;
  wr.wr_id = host.numbers().next(Queue::kSend);
  if (ib_post_send(slot.qp, &wr, nullptr) == 0) {
    slot.book.sent(wr.wr_id, (wr.send_flags & IB_SEND_SIGNALED) != 0);
  }
}

void post_receive(FuzzHost& host, Slot which, Program& program) {
  QpSlot& slot = host.slot(which);
  if (slot.qp == nullptr) return;
  const uint8_t choice = program.byte();
  const int count = choice % 3;
  ib_sge list[2];
  for (int i = 0; i < count; ++i) list[i] = piece(host.arena(), false, program);
  ib_recv_wr wr{};
  wr.sg_list = list;
  wr.num_sge = count;
  const bool xrc = which == kXrcTgt;
  const bool shared = xrc || slot.qp->srq != nullptr;
  wr.wr_id = host.numbers().next(shared ? Queue::kShared : Queue::kReceive);
  const int result =
      shared ? ib_post_srq_recv(host.srq(xrc), &wr, nullptr) : ib_post_recv(slot.qp, &wr, nullptr);
  if (result != 0) return;
  if (shared) {
    host.shared_book().received(wr.wr_id);
  } else {
    slot.book.received(wr.wr_id);
  }
}

void post_receives(FuzzHost& host) {
  constexpr std::array<uint8_t, 6> kBytes{1, 0, 0, 0, kReceiveBytes >> 8, kReceiveBytes & 0xFF};
  for (uint8_t which = 0; which < kSlotCount; ++which) {
    for (int i = 0; i < 2; ++i) {
      Program program(kBytes);
      post_receive(host, static_cast<Slot>(which), program);
    }
  }
}

}  // namespace uroce::fuzz
