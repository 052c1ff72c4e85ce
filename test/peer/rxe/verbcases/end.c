// SPDX-License-Identifier: BSD-3-Clause
// The end of an exchange: TCP, objects, and work with its completions.
#define _GNU_SOURCE  // struct timespec, getaddrinfo
#include "end.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kPatience = 60000, kListMax = 64 };  // ms; requests

void fail(const struct end* end, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", end->is_client ? "client" : "server");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(1);
}

bool is_soft_roce(const struct end* end) { return !strncmp(end->device, "rxe", 3); }

// `error`: what a verb returned; `what`: the verb's purpose.
static void must(const struct end* end, int error, const char* what) {
  if (error != 0) fail(end, "%s: %s", what, strerror(error > 0 ? error : errno));
}

static void nap(long microseconds) {
  const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&time, NULL);
}

static int64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// --- TCP ---

static void accept_client(struct end* end, int listener, const struct addrinfo* address) {
  const int one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  must(end, bind(listener, address->ai_addr, address->ai_addrlen), "bind");
  must(end, listen(listener, 1), "listen");
  end->tcp = accept(listener, NULL, NULL);
  if (end->tcp < 0) fail(end, "accept: %s", strerror(errno));
  close(listener);
}

void dial(struct end* end, const char* server) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                 .ai_flags = server ? 0 : AI_PASSIVE,
                                 .ai_family = server ? AF_UNSPEC : AF_INET6};
  struct addrinfo* address = NULL;
  if (getaddrinfo(server, end->tcp_port, &hints, &address) != 0) fail(end, "no such server");
  for (const int64_t limit = now_ms() + kPatience;;) {
    const int tcp = socket(address->ai_family, SOCK_STREAM, 0);
    if (tcp < 0) fail(end, "socket: %s", strerror(errno));
    end->tcp = tcp;
    if (!server) {
      accept_client(end, tcp, address);
      break;
    }
    if (connect(tcp, address->ai_addr, address->ai_addrlen) == 0) break;
    if (now_ms() > limit) fail(end, "connect: %s", strerror(errno));
    close(tcp);
    nap(100000);
  }
  freeaddrinfo(address);
}

void swap(struct end* end, const void* mine, void* peers, size_t length) {
  if (send(end->tcp, mine, length, MSG_NOSIGNAL) != (ssize_t)length ||
      recv(end->tcp, peers, length, MSG_WAITALL) != (ssize_t)length)
    fail(end, "the other end is gone");
}

void meet(struct end* end) {
  const char mine = 'm';
  char peers = 0;
  swap(end, &mine, &peers, sizeof(mine));
}

// --- objects ---

static uint8_t byte_of(bool of_client, uint64_t at) {
  return (uint8_t)(of_client ? at * 7 + 1 : at * 5 + 3);
}

void open_device(struct end* end) {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  for (int i = 0; i < count && !end->context; ++i)
    if (!strcmp(end->device, ibv_get_device_name(list[i]))) end->context = ibv_open_device(list[i]);
  if (!end->context) fail(end, "no device %s", end->device);
  ibv_free_device_list(list);
  end->pd = ibv_alloc_pd(end->context);
  end->cq = ibv_create_cq(end->context, 512, NULL, NULL, 0);
  end->out = aligned_alloc(4096, 2 * kHalf);
  if (!end->pd || !end->cq || !end->out) fail(end, "no protection domain, queue or memory");
  end->in = end->out + kHalf;
  memset(end->in, 0, kHalf);
  for (uint64_t i = 0; i < kHalf; ++i) end->out[i] = byte_of(end->is_client, i);
  end->mr = ibv_reg_mr(end->pd, end->out, 2 * kHalf,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
  end->readonly = ibv_reg_mr(end->pd, end->out, 4096, IBV_ACCESS_REMOTE_READ);
  if (!end->mr || !end->readonly) fail(end, "no memory region: %s", strerror(errno));
}

void make_queue_pair(struct end* end, bool with_srq) {
  struct ibv_qp_init_attr init = {.send_cq = end->cq,
                                  .recv_cq = end->cq,
                                  .qp_type = end->type,
                                  .cap = {.max_send_wr = 128,
                                          .max_recv_wr = 256,
                                          .max_send_sge = 8,
                                          .max_recv_sge = 8,
                                          .max_inline_data = 256}};
  struct ibv_srq_init_attr shared = {.attr = {.max_wr = 64, .max_sge = 1}};
  if (with_srq) init.srq = end->srq = ibv_create_srq(end->pd, &shared);
  if (with_srq && !end->srq) fail(end, "no shared receive queue: %s", strerror(errno));
  end->qp = ibv_create_qp(end->pd, &init);
  if (!end->qp) fail(end, "no queue pair: %s", strerror(errno));
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                             .port_num = 1,
                             .qkey = kQkey,
                             .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                                IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND};
  const int more = end->type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  must(end, ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | more),
       "to INIT");
  must(end, ibv_query_gid(end->context, 1, end->gid_index, &end->mine.gid), "GID");
  end->mine.qpn = end->qp->qp_num;
  end->mine.psn = end->is_client ? 0xffff00 : 0xfff00;  // the client's turn over on the way
  end->mine.rkey = end->mr->rkey;
  end->mine.readonly_rkey = end->readonly->rkey;
  end->mine.address = (uintptr_t)end->out;
}

static struct ibv_ah_attr address_of(const struct end* end, const union ibv_gid* to) {
  const struct ibv_ah_attr attr = {
      .is_global = 1,
      .port_num = 1,
      .grh = {.dgid = *to, .sgid_index = (uint8_t)end->gid_index, .hop_limit = 64}};
  return attr;
}

void make_address(struct end* end, const union ibv_gid* to) {
  struct ibv_ah_attr attr = address_of(end, to);
  end->ah = ibv_create_ah(end->pd, &attr);
  if (!end->ah) fail(end, "no address handle: %s", strerror(errno));
}

static enum ibv_mtu mtu_code(int mtu) {
  enum ibv_mtu code = IBV_MTU_256;
  for (; mtu > 256 && code < IBV_MTU_4096; mtu /= 2) ++code;
  return code;
}

void connect_ends(struct end* end) {
  const bool connected = end->type != IBV_QPT_UD, reliable = end->type == IBV_QPT_RC;
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                             .path_mtu = mtu_code(end->mtu),
                             .dest_qp_num = end->peer.qpn,
                             .rq_psn = end->peer.psn,
                             .max_dest_rd_atomic = 8,
                             .min_rnr_timer = 12,
                             .ah_attr = address_of(end, &end->peer.gid)};
  int mask = IBV_QP_STATE;
  if (connected) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (reliable) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  must(end, ibv_modify_qp(end->qp, &attr, mask), "to RTR");
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                              .sq_psn = end->mine.psn,
                              .timeout = end->timeout,
                              .retry_cnt = end->retries,
                              .rnr_retry = end->rnr_retries,
                              .max_rd_atomic = 8};
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (reliable)
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  must(end, ibv_modify_qp(end->qp, &attr, mask), "to RTS");
  if (!connected) make_address(end, &end->peer.gid);
}

// --- work ---

void post_receive(struct end* end, uint32_t length) {
  struct ibv_sge sge = {(uintptr_t)end->in, length, end->mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = ++end->next_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
  must(end, end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad) : ibv_post_recv(end->qp, &wr, &bad),
       "post a receive");
}

static bool is_atomic(enum ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static void fill(struct end* end, const struct work* work, struct ibv_send_wr* wr,
                 struct ibv_sge* sge) {
  const bool comes_back = work->opcode == IBV_WR_RDMA_READ || is_atomic(work->opcode);
  const uint32_t rkey = work->rkey ? work->rkey : end->peer.rkey;
  const uint64_t remote = end->peer.address + work->remote_offset;
  sge->addr = (uintptr_t)(comes_back ? end->in : end->out) + work->offset;
  sge->length = work->length;
  sge->lkey = end->mr->lkey;
  *wr = (struct ibv_send_wr){.wr_id = ++end->next_id,
                             .opcode = work->opcode,
                             .send_flags = IBV_SEND_SIGNALED | work->flags,
                             .sg_list = sge,
                             .num_sge = work->length ? 1 : 0,
                             .imm_data = htonl(work->immediate)};
  if (work->opcode == IBV_WR_SEND_WITH_INV) wr->invalidate_rkey = rkey;
  if (end->type == IBV_QPT_UD) {
    wr->wr.ud.ah = end->ah;
    wr->wr.ud.remote_qpn = work->qpn ? work->qpn : end->peer.qpn;
    wr->wr.ud.remote_qkey = work->qkey ? work->qkey : kQkey;
  } else if (is_atomic(work->opcode)) {
    wr->wr.atomic.remote_addr = remote;
    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.compare_add = work->compare_add;
    wr->wr.atomic.swap = work->swap;
  } else {
    wr->wr.rdma.remote_addr = remote;
    wr->wr.rdma.rkey = rkey;
  }
}

static int try_list(struct end* end, const struct work* works, int count) {
  struct ibv_sge sges[kListMax];
  struct ibv_send_wr wrs[kListMax], *bad = NULL;
  for (int i = 0; i < count; ++i) {
    fill(end, &works[i], &wrs[i], &sges[i]);
    if (i > 0) wrs[i - 1].next = &wrs[i];
  }
  return ibv_post_send(end->qp, wrs, &bad);
}

void post_list(struct end* end, const struct work* works, int count) {
  must(end, try_list(end, works, count), "post");
}

bool anything_in(struct end* end, int milliseconds, struct ibv_wc* completion) {
  const int64_t limit = now_ms() + milliseconds;
  for (;;) {
    const int count = ibv_poll_cq(end->cq, 1, completion);
    if (count < 0) fail(end, "poll: %s", strerror(errno));
    if (count == 1) return true;
    if (now_ms() > limit) return false;
    nap(200);
  }
}

struct ibv_wc reap(struct end* end) {
  struct ibv_wc completion;
  if (!anything_in(end, kPatience, &completion)) fail(end, "no completion in %d ms", kPatience);
  return completion;
}

void go(struct end* end, struct work work) { go_wrong(end, work, 1U << IBV_WC_SUCCESS); }

void go_wrong(struct end* end, struct work work, unsigned int statuses) {
  const int error = try_list(end, &work, 1);
  if (error == EINVAL && statuses & 1U << IBV_WC_REM_INV_REQ_ERR) return;  // refused at once
  must(end, error, "post");
  const struct ibv_wc completion = reap(end);
  if (!(statuses & 1U << completion.status))
    fail(end, "request %llu of opcode %d: %s", (unsigned long long)completion.wr_id, work.opcode,
         ibv_wc_status_str(completion.status));
}

struct ibv_wc expect_receive(struct end* end, uint32_t length) {
  const uint32_t head = end->type == IBV_QPT_UD ? 40 : 0;
  const struct ibv_wc completion = reap(end);
  if (completion.status != IBV_WC_SUCCESS)
    fail(end, "a receive of %u bytes: %s", length, ibv_wc_status_str(completion.status));
  if (!(completion.opcode & IBV_WC_RECV)) fail(end, "opcode %d is no receive", completion.opcode);
  if (completion.byte_len != length + head)
    fail(end, "%u bytes received, not %u", completion.byte_len, length + head);
  if (head && (!(completion.wc_flags & IBV_WC_GRH) || completion.src_qp != end->peer.qpn))
    fail(end, "no GRH, or not from the peer: flags %#x, QP %#x", completion.wc_flags,
         completion.src_qp);
  return completion;
}

void expect_bytes(const struct end* end, const uint8_t* bytes, uint32_t length, bool of_client,
                  uint64_t first) {
  for (uint32_t i = 0; i < length; ++i)
    if (bytes[i] != byte_of(of_client, first + i))
      fail(end, "byte %u of %u is %#x, not %#x", i, length, bytes[i],
           byte_of(of_client, first + i));
}
