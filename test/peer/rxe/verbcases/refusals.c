// SPDX-License-Identifier: BSD-3-Clause
// Connected queue pairs that are asked for what they must refuse, or wait for.
#define _GNU_SOURCE  // struct timespec
#include <time.h>

#include "cases.h"

static const unsigned int kAccess = 1U << IBV_WC_REM_ACCESS_ERR;
static const unsigned int kFlushed = 1U << IBV_WC_WR_FLUSH_ERR;

static void nap_40_ms(void) {
  const struct timespec time = {0, 40000000};
  nanosleep(&time, NULL);
}

void atomic_odd_client(struct end* end) {
  meet(end);
  go_wrong(end,
           (struct work){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .length = 8, .remote_offset = 4},
           1U << IBV_WC_REM_INV_REQ_ERR);
}

static void refused(struct end* end, enum ibv_wr_opcode opcode, uint32_t length) {
  meet(end);
  go_wrong(end, (struct work){.opcode = opcode, .length = length, .rkey = end->peer.rkey ^ 0x55},
           kAccess);
  go_wrong(end, (struct work){.opcode = IBV_WR_SEND, .length = 4}, kFlushed);
}

void bad_write_client(struct end* end) { refused(end, IBV_WR_RDMA_WRITE, 5000); }
void bad_read_client(struct end* end) { refused(end, IBV_WR_RDMA_READ, 16); }
void bad_atomic_client(struct end* end) { refused(end, IBV_WR_ATOMIC_FETCH_AND_ADD, 8); }

void untouched_server(struct end* end) {
  meet(end);
  meet(end);
  expect_bytes(end, end->out, kHalf, false, 0);
}

void bad_uc_write_client(struct end* end) {
  meet(end);
  go(end,
     (struct work){.opcode = IBV_WR_RDMA_WRITE, .length = 5000, .rkey = end->peer.rkey ^ 0x55});
  meet(end);
}

void range_client(struct end* end) {
  meet(end);
  go(end, (struct work){.opcode = IBV_WR_RDMA_WRITE, .length = 16});
  go_wrong(end,
           (struct work){.opcode = IBV_WR_RDMA_WRITE,
                         .length = 3 * (uint32_t)end->mtu,
                         .remote_offset = 2 * kHalf - 100},
           kAccess);
}

void readonly_client(struct end* end) {
  const uint32_t rkey = end->peer.readonly_rkey;
  meet(end);
  go(end, (struct work){.opcode = IBV_WR_RDMA_READ, .length = 16, .rkey = rkey});
  expect_bytes(end, end->in, 16, false, 0);
  go_wrong(end, (struct work){.opcode = IBV_WR_RDMA_WRITE, .length = 16, .rkey = rkey}, kAccess);
}

void zero_client(struct end* end) {  // the key of nothing is not looked at
  meet(end);
  go(end, (struct work){.opcode = IBV_WR_RDMA_WRITE, .rkey = 0xdeadbe00});
  go(end, (struct work){.opcode = IBV_WR_RDMA_READ, .rkey = 0xdeadbe00});
}

// InfiniBand says "invalid request" and "local length error", soft-RoCE the other two.
void too_long_client(struct end* end) {
  meet(end);
  go(end, (struct work){.opcode = IBV_WR_SEND, .length = 40});
  go_wrong(end, (struct work){.opcode = IBV_WR_SEND, .length = 2 * (uint32_t)end->mtu + 1},
           1U << IBV_WC_REM_INV_REQ_ERR | 1U << IBV_WC_REM_OP_ERR);
}

void too_long_server(struct end* end) {
  post_receive(end, 40);
  post_receive(end, (uint32_t)end->mtu + 10);
  meet(end);
  expect_receive(end, 40);
  const enum ibv_wc_status status = reap(end).status;
  if (status != IBV_WC_LOC_LEN_ERR && status != IBV_WC_LOC_QP_OP_ERR)
    fail(end, "a send that does not fit: %s", ibv_wc_status_str(status));
}

void rnr_client(struct end* end) {
  meet(end);
  for (int i = 0; i < 2; ++i) go(end, (struct work){.opcode = IBV_WR_SEND, .length = 5000});
}

void rnr_server(struct end* end) {
  meet(end);
  for (int i = 0; i < 2; ++i) {
    nap_40_ms();  // the message is there before its buffer
    post_receive(end, kHalf);
    expect_receive(end, 5000);
    expect_bytes(end, end->in, 5000, true, 0);
  }
}

void rnr_out_client(struct end* end) {
  meet(end);
  go_wrong(end, (struct work){.opcode = IBV_WR_SEND, .length = 32}, 1U << IBV_WC_RNR_RETRY_EXC_ERR);
}

void gone_client(struct end* end) {
  meet(end);
  go_wrong(end, (struct work){.opcode = IBV_WR_SEND, .length = 32}, 1U << IBV_WC_RETRY_EXC_ERR);
}

void gone_server(struct end* end) {
  if (ibv_destroy_qp(end->qp) != 0) fail(end, "the queue pair cannot be destroyed");
  end->qp = NULL;
  meet(end);
}
