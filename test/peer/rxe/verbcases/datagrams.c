// SPDX-License-Identifier: BSD-3-Clause
// Datagrams, to one and to a group.
#define _GNU_SOURCE  // struct ip_mreq
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "cases.h"

enum { kDatagrams = 8 };

static uint32_t datagram_size(const struct end* end, int number) {
  const uint32_t mtu = (uint32_t)end->mtu;
  const uint32_t sizes[kDatagrams] = {0, 1, 2, 3, 4, 100, mtu - 1, mtu};
  return sizes[number];
}

static void send_datagrams(struct end* end, uint32_t qpn) {
  meet(end);
  for (int i = 0; i < kDatagrams; ++i)
    go(end, (struct work){.opcode = i % 3 == 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
                          .length = datagram_size(end, i),
                          .immediate = 0xb0000000,
                          .qpn = qpn});
}

void receive_datagrams(struct end* end) {
  for (int i = 0; i < kDatagrams; ++i) post_receive(end, kHalf);
  meet(end);
  for (int i = 0; i < kDatagrams; ++i) {
    const uint32_t size = datagram_size(end, i);
    const struct ibv_wc completion = expect_receive(end, size);
    expect_bytes(end, end->in + 40, size, true, 0);
    if (i % 3 == 2 && completion.imm_data != htonl(0xb0000000)) fail(end, "another immediate");
  }
}

void ud_client(struct end* end) { send_datagrams(end, 0); }

void ud_bad_client(struct end* end) {
  meet(end);
  go(end, (struct work){.opcode = IBV_WR_SEND, .length = 8, .qkey = kQkey + 1});
  go(end, (struct work){.opcode = IBV_WR_SEND, .length = 8, .qpn = 0x7ffff});
  go(end, (struct work){.opcode = IBV_WR_SEND, .length = 9});
}

void ud_bad_server(struct end* end) {  // only the last one is for it
  post_receive(end, 4096);
  meet(end);
  expect_receive(end, 9);
}

static bool is_ipv4(const union ibv_gid* gid) {
  static const uint8_t kMapped[12] = {[10] = 0xff, [11] = 0xff};
  return memcmp(gid->raw, kMapped, sizeof(kMapped)) == 0;
}

static union ibv_gid group_of(const struct end* end) {
  union ibv_gid group;
  inet_pton(AF_INET6, is_ipv4(&end->mine.gid) ? "::ffff:239.1.2.3" : "ff0e::1:2:3", group.raw);
  return group;
}

// Soft-RoCE sees what the kernel's IP stack has taken in: that must be a member too.
static void join_by_kernel(const struct end* end, const union ibv_gid* group) {
  const bool ipv4 = is_ipv4(group);
  const int udp = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
  struct ip_mreq four = {.imr_interface = {0}};
  struct ipv6_mreq six = {.ipv6mr_interface = 0};
  memcpy(&four.imr_multiaddr, group->raw + 12, 4);
  memcpy(&six.ipv6mr_multiaddr, group->raw, 16);
  const int error = ipv4 ? setsockopt(udp, IPPROTO_IP, IP_ADD_MEMBERSHIP, &four, sizeof(four))
                         : setsockopt(udp, IPPROTO_IPV6, IPV6_JOIN_GROUP, &six, sizeof(six));
  if (error != 0) fail(end, "the kernel does not join the group");
}

void group_client(struct end* end) {
  const union ibv_gid group = group_of(end);
  make_address(end, &group);
  send_datagrams(end, kGroupQpn);
}

void group_server(struct end* end) {
  const union ibv_gid group = group_of(end);
  if (is_soft_roce(end)) join_by_kernel(end, &group);  // the program's end leaves
  if (ibv_attach_mcast(end->qp, &group, 0) != 0) fail(end, "cannot attach to the group");
  receive_datagrams(end);
  if (ibv_detach_mcast(end->qp, &group, 0) != 0) fail(end, "cannot detach from the group");
}
