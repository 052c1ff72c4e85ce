// SPDX-License-Identifier: BSD-3-Clause
// One end of an exchange between two verbs programs: a device, a queue pair that is connected to
// the other end's, a TCP connection to tell each other what they need, and work that is known in
// every byte. What goes wrong here ends the program, with a line on stderr.
#ifndef TEST_PEER_RXE_VERBCASES_END_H_
#define TEST_PEER_RXE_VERBCASES_END_H_

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  kHalf = 1 << 19,  // bytes that go out, and as many that come in
  kQkey = 0x11223344,
  kGroupQpn = 0xffffff,
};

// What the ends tell each other.
struct hello {
  uint32_t qpn, psn, rkey, readonly_rkey, window_rkey;
  uint64_t address;
  union ibv_gid gid;
};

struct end {
  const char *device, *tcp_port;
  bool is_client;
  int gid_index, mtu;
  uint8_t timeout, retries, rnr_retries;
  enum ibv_qp_type type;
  int tcp;
  struct ibv_context* context;
  struct ibv_pd* pd;
  struct ibv_cq* cq;
  struct ibv_qp* qp;
  struct ibv_srq* srq;
  struct ibv_mr *mr, *readonly;
  struct ibv_mw* window;
  struct ibv_ah* ah;
  uint8_t* out;  // the halves: `mr` is both, from `out` on
  uint8_t* in;
  uint64_t next_id;
  struct hello mine, peer;
};

// One send request. Reads and atomics come to in + offset, others go out from out + offset.
// rkey, qpn, qkey: 0 means the peer's.
struct work {
  enum ibv_wr_opcode opcode;
  uint32_t length;
  unsigned int flags;
  uint32_t immediate, rkey, qpn, qkey;
  uint64_t offset, remote_offset, compare_add, swap;
};

__attribute__((format(printf, 2, 3), noreturn)) void fail(const struct end* end, const char* format,
                                                          ...);

// Whether the device is the kernel's soft-RoCE.
bool is_soft_roce(const struct end* end);

// TCP: the server waits, the client dials for some seconds.
void dial(struct end* end, const char* server);
void swap(struct end* end, const void* mine, void* peers, size_t length);
// Both ends have come this far.
void meet(struct end* end);

// The device with a region of both halves; a queue pair in INIT.
void open_device(struct end* end);
void make_queue_pair(struct end* end, bool with_srq);
// To RTS, by what the other end has told.
void connect_ends(struct end* end);
void make_address(struct end* end, const union ibv_gid* to);

void post_receive(struct end* end, uint32_t length);
// Posted in one call; at most 64.
void post_list(struct end* end, const struct work* works, int count);
// The next completion, for which it waits a minute.
struct ibv_wc reap(struct end* end);
// Whether one comes within so many milliseconds.
bool anything_in(struct end* end, int milliseconds, struct ibv_wc* completion);

// One request that must succeed, or fail with a status of this set of 1 << status.
void go(struct end* end, struct work work);
void go_wrong(struct end* end, struct work work, unsigned int statuses);
// The next completion is a receive of so many bytes, which are the other end's.
struct ibv_wc expect_receive(struct end* end, uint32_t length);
// The bytes there are the ones of that end's messages, from `first` on.
void expect_bytes(const struct end* end, const uint8_t* bytes, uint32_t length, bool of_client,
                  uint64_t first);

#endif  // TEST_PEER_RXE_VERBCASES_END_H_
