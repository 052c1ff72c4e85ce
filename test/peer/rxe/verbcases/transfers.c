// SPDX-License-Identifier: BSD-3-Clause
// Connected queue pairs that do what they are asked.
#include <arpa/inet.h>
#include <string.h>

#include "cases.h"

enum { kSizes = 12, kBatch = 40, kReads = 10 };

static const unsigned int kAccess = 1U << IBV_WC_REM_ACCESS_ERR;

// Sizes that meet every pad count and the edges of the path MTU.
static uint32_t size_of(const struct end* end, int number) {
  const uint32_t mtu = (uint32_t)end->mtu;
  const uint32_t sizes[kSizes] = {0,  1,       2,   3,       4,       5,
                                  63, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 3};
  return sizes[number];
}

static void send_sizes(struct end* end, enum ibv_wr_opcode opcode) {
  meet(end);
  for (int i = 0; i < kSizes; ++i) {
    const uint32_t size = size_of(end, i);
    go(end, (struct work){.opcode = opcode,
                          .length = size,
                          .immediate = 0xa0000000 + size,
                          .flags = i % 4 == 3 ? IBV_SEND_SOLICITED : 0});
  }
}

// Data of a WRITE with immediate is in the first half, of a SEND in the second.
void receive_sizes(struct end* end) {
  for (int i = 0; i < kSizes; ++i) post_receive(end, kHalf);
  meet(end);
  for (int i = 0; i < kSizes; ++i) {
    const uint32_t size = size_of(end, i);
    const struct ibv_wc completion = expect_receive(end, size);
    const bool written = completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
    expect_bytes(end, written ? end->out : end->in, size, true, 0);
    if (completion.wc_flags & IBV_WC_WITH_IMM && completion.imm_data != htonl(0xa0000000 + size))
      fail(end, "immediate %#x", ntohl(completion.imm_data));
  }
}

void send_client(struct end* end) { send_sizes(end, IBV_WR_SEND); }
void send_imm_client(struct end* end) { send_sizes(end, IBV_WR_SEND_WITH_IMM); }
void write_client(struct end* end) { send_sizes(end, IBV_WR_RDMA_WRITE); }
void write_imm_client(struct end* end) { send_sizes(end, IBV_WR_RDMA_WRITE_WITH_IMM); }

void passive(struct end* end) { meet(end); }

void written_server(struct end* end) {
  meet(end);
  meet(end);  // the client has all its completions
  expect_bytes(end, end->out, size_of(end, kSizes - 1), true, 0);
}

void write_rc_client(struct end* end) {
  write_client(end);
  meet(end);
}

void read_client(struct end* end) {
  send_sizes(end, IBV_WR_RDMA_READ);
  expect_bytes(end, end->in, size_of(end, kSizes - 1), false, 0);
}

// More at once than either side's responder has room for.
void read_many_client(struct end* end) {
  struct work works[kReads];
  const uint32_t size = 2 * (uint32_t)end->mtu + 1;
  for (uint64_t i = 0; i < kReads; ++i)
    works[i] = (struct work){
        .opcode = IBV_WR_RDMA_READ, .length = size, .offset = i * 16384, .remote_offset = i};
  meet(end);
  post_list(end, works, kReads);
  for (uint64_t i = 0; i < kReads; ++i) {
    if (reap(end).status != IBV_WC_SUCCESS) fail(end, "read %d", (int)i);
    expect_bytes(end, end->in + i * 16384, size, false, i);
  }
}

void inline_client(struct end* end) {
  meet(end);
  go(end, (struct work){.opcode = IBV_WR_SEND, .length = 1, .flags = IBV_SEND_INLINE});
  go(end, (struct work){.opcode = IBV_WR_SEND, .length = 200, .flags = IBV_SEND_INLINE});
  go(end, (struct work){.opcode = IBV_WR_RDMA_WRITE, .length = 30, .flags = IBV_SEND_INLINE});
}

void inline_server(struct end* end) {
  post_receive(end, 4096);
  post_receive(end, 4096);
  meet(end);
  expect_receive(end, 1);
  expect_receive(end, 200);
  expect_bytes(end, end->in, 200, true, 0);
}

// Three pieces over a packet's edge, which follow each other at the receiver.
void gather_client(struct end* end) {
  struct ibv_sge pieces[] = {{(uintptr_t)end->out, 13, end->mr->lkey},
                             {(uintptr_t)end->out + 13, 1001, end->mr->lkey},
                             {(uintptr_t)end->out + 1014, 27, end->mr->lkey}};
  struct ibv_send_wr wr = {.opcode = IBV_WR_SEND,
                           .send_flags = IBV_SEND_SIGNALED,
                           .sg_list = pieces,
                           .num_sge = 3},
                     *bad = NULL;
  meet(end);
  if (ibv_post_send(end->qp, &wr, &bad) != 0 || reap(end).status != IBV_WC_SUCCESS)
    fail(end, "a send of three pieces");
}

void gather_server(struct end* end) {
  post_receive(end, 4096);
  meet(end);
  expect_receive(end, 1041);
  expect_bytes(end, end->in, 1041, true, 0);
}

void batch_client(struct end* end) {
  struct work works[kBatch];
  for (uint32_t i = 0; i < kBatch; ++i)
    works[i] = (struct work){.opcode = IBV_WR_SEND, .length = 3 * (uint32_t)end->mtu + i};
  meet(end);
  post_list(end, works, kBatch);
  for (int i = 0; i < kBatch; ++i)
    if (reap(end).status != IBV_WC_SUCCESS) fail(end, "send %d", i);
}

void batch_server(struct end* end) {
  for (int i = 0; i < kBatch; ++i) post_receive(end, kHalf);
  meet(end);
  for (uint32_t i = 0; i < kBatch; ++i) {
    const uint32_t size = 3 * (uint32_t)end->mtu + i;
    expect_receive(end, size);
    expect_bytes(end, end->in, size, true, 0);
  }
}

void mixed_client(struct end* end) {
  const uint32_t mtu = (uint32_t)end->mtu;
  const struct work works[] = {
      {.opcode = IBV_WR_RDMA_WRITE, .length = mtu + 9},
      {.opcode = IBV_WR_RDMA_READ, .length = 2 * mtu + 5, .remote_offset = 64 * 1024},
      {.opcode = IBV_WR_SEND, .length = 17, .flags = IBV_SEND_FENCE},
      {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .length = 8, .offset = 65536, .compare_add = 5},
      {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .length = 6, .immediate = 0xfeedbeef},
      {.opcode = IBV_WR_RDMA_READ, .length = 3, .offset = 131072, .remote_offset = 65536}};
  const int count = sizeof(works) / sizeof(works[0]);
  meet(end);
  post_list(end, works, count);
  for (int i = 0; i < count; ++i)
    if (reap(end).status != IBV_WC_SUCCESS) fail(end, "request %d", i);
  expect_bytes(end, end->in, 2 * mtu + 5, false, 65536);
}

void mixed_server(struct end* end) {
  post_receive(end, 4096);
  post_receive(end, 4096);
  meet(end);
  expect_receive(end, 17);
  if (expect_receive(end, 6).imm_data != htonl(0xfeedbeef)) fail(end, "another immediate");
}

static uint64_t fetched(struct end* end, struct work work) {
  work.length = 8;
  go(end, work);
  uint64_t value = 0;
  memcpy(&value, end->in, sizeof(value));
  return value;
}

// The server's first eight bytes, as its processor reads them.
void atomics_client(struct end* end) {
  uint64_t expected = 0;
  const uint64_t step = 0x1000000000000001;
  const struct work add = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .compare_add = step};
  for (unsigned int i = 0; i < 8; ++i) expected |= (uint64_t)((i * 5 + 3) & 0xff) << 8 * i;
  meet(end);
  for (int i = 0; i < 4; ++i, expected += step)
    if (fetched(end, add) != expected) fail(end, "sum %d is another", i);
  struct work swap_it = {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .compare_add = 1, .swap = 2};
  if (fetched(end, swap_it) != expected) fail(end, "a swap that does not fit");
  swap_it.compare_add = expected;
  if (fetched(end, swap_it) != expected) fail(end, "it was swapped, or the sum is another");
  if (fetched(end, add) != 2) fail(end, "a swap that fits");
}

static void bind_window(struct end* end) {
  end->window = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
  if (!end->window) fail(end, "no memory window");
  struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED}, *bad = NULL;
  wr.bind_mw.mw = end->window;
  wr.bind_mw.rkey = end->mine.window_rkey = ibv_inc_rkey(end->window->rkey);
  wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
      .mr = end->mr,
      .addr = (uintptr_t)end->out,
      .length = 65536,
      .mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
  if (ibv_post_send(end->qp, &wr, &bad) != 0 || reap(end).status != IBV_WC_SUCCESS)
    fail(end, "the window cannot be bound");
}

void invalidate_client(struct end* end) {
  const struct hello mine = end->mine;
  swap(end, &mine, &end->peer, sizeof(mine));  // the window's key
  const uint32_t rkey = end->peer.window_rkey;
  meet(end);
  go(end, (struct work){.opcode = IBV_WR_RDMA_WRITE, .length = 100, .rkey = rkey});
  go(end, (struct work){.opcode = IBV_WR_SEND_WITH_INV, .length = 21, .rkey = rkey});
  go_wrong(end, (struct work){.opcode = IBV_WR_RDMA_WRITE, .length = 100, .rkey = rkey}, kAccess);
}

void invalidate_server(struct end* end) {
  bind_window(end);
  swap(end, &end->mine, &end->peer, sizeof(end->mine));
  post_receive(end, kHalf);
  meet(end);
  const struct ibv_wc completion = expect_receive(end, 21);
  const bool told = completion.wc_flags & IBV_WC_WITH_INV;
  if (!told && !is_soft_roce(end)) fail(end, "the invalidation is not told");
  if (told && completion.invalidated_rkey != end->mine.window_rkey)
    fail(end, "key %#x invalidated", completion.invalidated_rkey);
  expect_bytes(end, end->out, 100, true, 0);
}
