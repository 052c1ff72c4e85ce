// SPDX-License-Identifier: BSD-3-Clause
// Looking at a running device: its counters, its port, its queue pairs and its groups.
//
// Each call walks one list and calls a function for each entry; the entry and its strings live as
// long as that call of the function, except names and explanations, which live for ever. The
// function must not call uroce_stop and must not create, modify or destroy objects.
//
// Threads: uroce_observe_counters may be called from any thread at any time. The others are control
// calls like those of ib_verbs.h: in --mode inline they belong to the one thread that drives, in
// the other modes to any. None stops the packet path.
//
// Results: the number of entries, or -ENODEV (no device with this index), -ETIMEDOUT (an engine
// does not answer).
#ifndef UROCE_OBSERVE_H
#define UROCE_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <uroce/uroce.h>

#ifdef __cplusplus
extern "C" {
#endif

// Longest address as text, with the end of the string: IPv6, or an IPv4-mapped one.
#define UROCE_ADDRESS_TEXT_MAX 46

enum uroce_counter_group {
  UROCE_COUNTER_TRANSPORT,  // what queue pairs did; names of mlx5 where the event is the same
  UROCE_COUNTER_DROP,       // frames that were not taken, by reason
  UROCE_COUNTER_PORT,       // frames of the port, and faults on purpose
  UROCE_COUNTER_LOOP,       // the polling loops
  UROCE_COUNTER_HOST,       // ARP, ND, echo, IGMP and MLD of an own port
};

// A counter of a device: the sum over its engines (of turn_ns_max the largest). Counters only grow
// and are read one after the other, so two of them may differ by what happened in between.
struct uroce_counter {
  enum uroce_counter_group group;
  const char* name;  // doc/counters.md; unique within its group
  const char* help;  // one line
  uint64_t value;
};

typedef void (*uroce_counter_fn)(void* argument, const struct uroce_counter* counter);
// Every counter of device `index`, also those that are 0, always in the same order.
int uroce_observe_counters(struct uroce_context* context, unsigned int index,
                           uroce_counter_fn function, void* argument);

struct uroce_port_info {
  const char* device;  // "uroce0"
  const char* port;    // DPDK port name
  const char* driver;  // DPDK driver name
  uint8_t mac[6];
  bool shared;               // the kernel answers ARP and ND and joins groups; else uroce does
  const char* group_filter;  // how group frames pass the port, in words
  uint32_t frame_bytes_max;  // largest frame, Ethernet header included, FCS and VLAN tag not
  uint32_t path_mtu_bytes;   // the largest path MTU that fits
  bool link_up;
  uint32_t link_mbps;  // 0: unknown
  uint16_t vlan_id;    // 0: untagged
  uint32_t queue_count;
  int numa_node;                 // -1: unknown
  uint32_t address_count;        // of `addresses`: the GID table's, link-local entry included
  const char* const* addresses;  // as text
};

typedef void (*uroce_port_fn)(void* argument, const struct uroce_port_info* port);
// The port of device `index`, as it is now: one entry.
int uroce_observe_port(struct uroce_context* context, unsigned int index, uroce_port_fn function,
                       void* argument);

struct uroce_qp_info {
  uint32_t qpn;
  int type;           // enum ib_qp_type
  int state;          // enum ib_qp_state
  uint32_t engine;    // the queue that it belongs to
  uint32_t dest_qpn;  // 0: not connected
  uint32_t rq_psn;    // next expected
  uint32_t sq_psn;    // next to send
  uint32_t path_mtu_bytes;
  uint32_t qkey;
  const char* peer;  // its address, "" when there is none
  // Receive packets that this queue pair did not take, by reason.
  uint64_t recv_queue_empty;
  uint64_t qkey_violations;
  uint64_t pkey_violations;
  uint32_t group_count;
  const char* const* groups;  // as text
};

typedef void (*uroce_qp_fn)(void* argument, const struct uroce_qp_info* qp);
// The queue pairs of device `index`, by QPN.
int uroce_observe_qps(struct uroce_context* context, unsigned int index, uroce_qp_fn function,
                      void* argument);

struct uroce_group_info {
  const char* address;      // "239.1.1.1" or "ff1e::1"
  uint8_t mac[6];           // that its frames carry
  uint32_t member_count;    // queue pairs
  const uint32_t* members;  // their QPNs, ascending
  // A member takes every source, or is one by source (uroce_attach_mcast_source).
  const uint32_t* member_sources;  // of each of `members`: how many sources; 0: every one
  bool every_source;               // at least one member takes every source
  uint32_t source_count;           // of `sources`: what the members by source name together
  const char* const* sources;      // as text, ascending
};

typedef void (*uroce_group_fn)(void* argument, const struct uroce_group_info* group);
// The groups that queue pairs of device `index` are in, by address.
int uroce_observe_groups(struct uroce_context* context, unsigned int index, uroce_group_fn function,
                         void* argument);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_OBSERVE_H
