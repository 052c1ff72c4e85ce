// SPDX-License-Identifier: BSD-3-Clause
// verbcases: many small exchanges between two verbs programs, each of which knows what it must see.
//
//   verbcases [OPTIONS]                   waits for a client and serves its case
//   verbcases [OPTIONS] -c CASE SERVER    runs the case; status 0: both saw what they must
//   verbcases -l                          names the cases
//
// Options: -d DEVICE -g GID-INDEX -p TCP-PORT -m PATH-MTU -t ACK-TIMEOUT
#define _GNU_SOURCE  // getopt
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"

static const struct test_case {
  const char* name;
  enum ibv_qp_type type;
  bool with_srq;
  void (*client)(struct end*);
  void (*server)(struct end*);
} kCases[] = {
    {"send", IBV_QPT_RC, false, send_client, receive_sizes},
    {"send-imm", IBV_QPT_RC, false, send_imm_client, receive_sizes},
    {"send-srq", IBV_QPT_RC, true, send_client, receive_sizes},
    {"write", IBV_QPT_RC, false, write_rc_client, written_server},
    {"write-imm", IBV_QPT_RC, false, write_imm_client, receive_sizes},
    {"read", IBV_QPT_RC, false, read_client, passive},
    {"read-many", IBV_QPT_RC, false, read_many_client, passive},
    {"atomics", IBV_QPT_RC, false, atomics_client, passive},
    {"inline", IBV_QPT_RC, false, inline_client, inline_server},
    {"gather", IBV_QPT_RC, false, gather_client, gather_server},
    {"batch", IBV_QPT_RC, false, batch_client, batch_server},
    {"mixed", IBV_QPT_RC, false, mixed_client, mixed_server},
    {"send-inv", IBV_QPT_RC, false, invalidate_client, invalidate_server},
    {"rnr", IBV_QPT_RC, false, rnr_client, rnr_server},
    {"rnr-srq", IBV_QPT_RC, true, rnr_client, rnr_server},
    {"rnr-out", IBV_QPT_RC, false, rnr_out_client, passive},
    {"peer-gone", IBV_QPT_RC, false, gone_client, gone_server},
    {"write-bad-rkey", IBV_QPT_RC, false, bad_write_client, passive},
    {"read-bad-rkey", IBV_QPT_RC, false, bad_read_client, passive},
    {"atomic-bad-rkey", IBV_QPT_RC, false, bad_atomic_client, passive},
    {"atomic-odd", IBV_QPT_RC, false, atomic_odd_client, passive},
    {"write-range", IBV_QPT_RC, false, range_client, passive},
    {"write-readonly", IBV_QPT_RC, false, readonly_client, passive},
    {"zero-bad-rkey", IBV_QPT_RC, false, zero_client, passive},
    {"send-too-long", IBV_QPT_RC, false, too_long_client, too_long_server},
    {"uc-send", IBV_QPT_UC, false, send_client, receive_sizes},
    {"uc-send-imm", IBV_QPT_UC, false, send_imm_client, receive_sizes},
    {"uc-write", IBV_QPT_UC, false, write_client, passive},
    {"uc-write-imm", IBV_QPT_UC, false, write_imm_client, receive_sizes},
    {"uc-write-bad-rkey", IBV_QPT_UC, false, bad_uc_write_client, untouched_server},
    {"ud", IBV_QPT_UD, false, ud_client, receive_datagrams},
    {"ud-bad", IBV_QPT_UD, false, ud_bad_client, ud_bad_server},
    {"ud-group", IBV_QPT_UD, false, group_client, group_server},
};

static const struct test_case* find_case(const struct end* end, const char* name) {
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i)
    if (!strcmp(kCases[i].name, name)) return &kCases[i];
  fail(end, "no case %s", name);
}

// The client's say, for both.
struct request {
  char name[32];
  int mtu, timeout;
};

static const struct test_case* agree(struct end* end, const char* name) {
  struct request mine = {.mtu = end->mtu, .timeout = end->timeout}, peers = {.mtu = 0};
  if (name) snprintf(mine.name, sizeof(mine.name), "%s", name);
  swap(end, &mine, &peers, sizeof(mine));
  const struct request* rules = end->is_client ? &mine : &peers;
  end->mtu = rules->mtu;
  end->timeout = (uint8_t)rules->timeout;
  end->retries = 7;
  end->rnr_retries = strcmp(rules->name, "rnr-out") ? 7 : 2;  // 7: without an end
  if (!strcmp(rules->name, "peer-gone")) end->timeout = 12, end->retries = 3;
  return find_case(end, rules->name);
}

static const char* read_options(struct end* end, int argc, char** argv) {
  const char* name = NULL;
  for (int option; (option = getopt(argc, argv, "d:g:p:m:t:c:l")) != -1;) {
    switch (option) {
      case 'd':
        end->device = optarg;
        break;
      case 'g':
        end->gid_index = atoi(optarg);
        break;
      case 'p':
        end->tcp_port = optarg;
        break;
      case 'm':
        end->mtu = atoi(optarg);
        break;
      case 't':
        end->timeout = (uint8_t)atoi(optarg);
        break;
      case 'c':
        name = optarg;
        break;
      case 'l':
        for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) puts(kCases[i].name);
        exit(0);
      default:
        exit(2);
    }
  }
  return name;
}

int main(int argc, char** argv) {
  struct end end = {.device = "", .tcp_port = "18600", .gid_index = 1, .mtu = 1024, .timeout = 17};
  const char* name = read_options(&end, argc, argv);
  end.is_client = name != NULL;
  if (end.is_client != (optind < argc)) fail(&end, "a client needs -c CASE and the server's name");
  dial(&end, end.is_client ? argv[optind] : NULL);
  const struct test_case* the_case = agree(&end, name);
  end.type = the_case->type;
  open_device(&end);
  make_queue_pair(&end, the_case->with_srq && !end.is_client);
  const struct hello mine = end.mine;
  swap(&end, &mine, &end.peer, sizeof(mine));
  connect_ends(&end);
  (end.is_client ? the_case->client : the_case->server)(&end);
  meet(&end);
  printf("as expected: %s\n", the_case->name);
  return 0;
}
