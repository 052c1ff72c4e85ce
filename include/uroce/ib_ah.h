// SPDX-License-Identifier: BSD-3-Clause
// Address handles: where a UD message, or the path of a queue pair, goes.
#ifndef UROCE_IB_AH_H
#define UROCE_IB_AH_H

#include <uroce/ib_pd.h>
#include <uroce/ib_udata.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ib_gid_attr;

enum rdma_ah_attr_type {
  RDMA_AH_ATTR_TYPE_UNDEFINED,
  RDMA_AH_ATTR_TYPE_IB,
  RDMA_AH_ATTR_TYPE_ROCE,
  RDMA_AH_ATTR_TYPE_OPA,
};

enum rdma_network_type {
  RDMA_NETWORK_IB,
  RDMA_NETWORK_ROCE_V1,
  RDMA_NETWORK_IPV4,
  RDMA_NETWORK_IPV6,
};

enum ib_ah_flags { IB_AH_GRH = 1 };

struct ib_global_route {
  const struct ib_gid_attr* sgid_attr;  // always NULL here
  union ib_gid dgid;
  __u32 flow_label;    // 20 bits; also decides the UDP source port unless 0
  __u8 sgid_index;     // of our GID table: the source address
  __u8 hop_limit;      // 0: 64
  __u8 traffic_class;  // IPv4 TOS / IPv6 traffic class, DSCP and ECN bits as they go on the wire
};

struct ib_ah_attr {
  __u16 dlid;
  __u8 src_path_bits;
};

struct roce_ah_attr {
  __u8 dmac[6];  // all zero: the library finds it
};

struct opa_ah_attr {
  __u32 dlid;
  __u8 src_path_bits;
  bool make_grd;
};

struct rdma_ah_attr {
  struct ib_global_route grh;
  __u8 sl;  // 0 … 7; the VLAN priority where the port has a VLAN
  __u8 static_rate;
  __u32 port_num;  // 1
  __u8 ah_flags;   // IB_AH_GRH, always
  enum rdma_ah_attr_type type;
  union {
    struct ib_ah_attr ib;
    struct roce_ah_attr roce;
    struct opa_ah_attr opa;
  };
};

static inline enum rdma_ah_attr_type rdma_ah_find_type(struct ib_device* dev, __u32 port_num) {
  (void)dev;
  (void)port_num;
  return RDMA_AH_ATTR_TYPE_ROCE;
}
static inline void rdma_ah_set_sl(struct rdma_ah_attr* attr, __u8 sl) { attr->sl = sl; }
static inline void rdma_ah_set_port_num(struct rdma_ah_attr* attr, __u32 port_num) {
  attr->port_num = port_num;
}
static inline void rdma_ah_set_ah_flags(struct rdma_ah_attr* attr, enum ib_ah_flags flag) {
  attr->ah_flags = (__u8)flag;
}
static inline void rdma_ah_set_dgid_raw(struct rdma_ah_attr* attr, const void* dgid) {
  for (int i = 0; i < 16; ++i) attr->grh.dgid.raw[i] = ((const __u8*)dgid)[i];
}
// Fills the GRH part and sets the flag that says so. dgid may be NULL to leave it as it is.
static inline void rdma_ah_set_grh(struct rdma_ah_attr* attr, union ib_gid* dgid, __u32 flow_label,
                                   __u8 sgid_index, __u8 hop_limit, __u8 traffic_class) {
  attr->ah_flags = IB_AH_GRH;
  if (dgid != NULL) attr->grh.dgid = *dgid;
  attr->grh.flow_label = flow_label;
  attr->grh.sgid_index = sgid_index;
  attr->grh.hop_limit = hop_limit;
  attr->grh.traffic_class = traffic_class;
  attr->grh.sgid_attr = NULL;
}

struct ib_ah {
  struct ib_device* device;
  struct ib_pd* pd;
  const struct ib_gid_attr* sgid_attr;  // always NULL here
  enum rdma_ah_attr_type type;
};

enum rdma_create_ah_flags { RDMA_CREATE_AH_SLEEPABLE = 1 << 0 };
enum rdma_destroy_ah_flags { RDMA_DESTROY_AH_SLEEPABLE = 1 << 0 };

// Makes an address handle. A MAC address in ah_attr->roce.dmac is taken as it is; all zero, it is
// found: a group's is computed, an address of this port's own needs none (the message never leaves
// the host), any other is asked of the network, for at most three seconds.
//
// ERR_PTR, in the order of the checks: -EINVAL: port not 1, no IB_AH_GRH, type neither ROCE nor
// UNDEFINED, sgid_index outside the table; -ENODATA: an empty entry; -EINVAL: dgid and source of
// different IP versions, dgid zero, sl above 7; -ENOMEM; -ETIMEDOUT, -EHOSTUNREACH: the MAC
// address could not be found. `flags`: with or without RDMA_CREATE_AH_SLEEPABLE the same.
struct ib_ah* rdma_create_ah(struct ib_pd* pd, struct rdma_ah_attr* ah_attr, __u32 flags);

// The same, and the MAC address is always found by the library, whatever ah_attr says.
struct ib_ah* rdma_create_user_ah(struct ib_pd* pd, struct rdma_ah_attr* ah_attr,
                                  struct ib_udata* udata);

// Changes the address at once and as a whole: a work request posted later goes to the new one, one
// posted before to the old. Errors as in creation, and then the old address stays.
int rdma_modify_ah(struct ib_ah* ah, struct rdma_ah_attr* ah_attr);

// All attributes, the MAC address included.
int rdma_query_ah(struct ib_ah* ah, struct rdma_ah_attr* ah_attr);

// Work requests already posted keep the address that they were posted with.
int rdma_destroy_ah(struct ib_ah* ah, __u32 flags);
int rdma_destroy_ah_user(struct ib_ah* ah, __u32 flags, struct ib_udata* udata);

// The UDP source port: 0xC000 … 0xFFFF. From the flow label (low 20 bits); from a pair of QPNs (the
// label of both, the same in both directions, may be 0); from the label unless it is 0, else from
// the QPNs. Group messages: rqpn 0xFFFFFF.
__u16 rdma_flow_label_to_udp_sport(__u32 fl);
__u32 rdma_calc_flow_label(__u32 lqpn, __u32 rqpn);
__u16 rdma_get_udp_sport(__u32 fl, __u32 lqpn, __u32 rqpn);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_AH_H
