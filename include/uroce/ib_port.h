// SPDX-License-Identifier: BSD-3-Clause
// Ports of a device: enumerating them, and what a port is able to do. Every port here speaks RoCEv2
// on Ethernet, so most answers are constants. Pure functions: any thread. As in the kernel nobody
// checks port_num: give one that exists.
#ifndef UROCE_IB_PORT_H
#define UROCE_IB_PORT_H

#include <uroce/ib_device.h>
#include <uroce/ib_device_ops.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a port may be able to do, one bit each.
#define RDMA_CORE_CAP_IB_MAD 0x00000001
#define RDMA_CORE_CAP_IB_SMI 0x00000002
#define RDMA_CORE_CAP_IB_CM 0x00000004
#define RDMA_CORE_CAP_IW_CM 0x00000008
#define RDMA_CORE_CAP_IB_SA 0x00000010
#define RDMA_CORE_CAP_OPA_MAD 0x00000020
#define RDMA_CORE_CAP_AF_IB 0x00001000
#define RDMA_CORE_CAP_ETH_AH 0x00002000
#define RDMA_CORE_CAP_OPA_AH 0x00004000
#define RDMA_CORE_CAP_PROT_IB 0x00100000
#define RDMA_CORE_CAP_PROT_ROCE 0x00200000
#define RDMA_CORE_CAP_PROT_IWARP 0x00400000
#define RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP 0x00800000

// A port that speaks RoCEv2, as every port here: 0x00803005.
#define RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP                                           \
  (RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP | RDMA_CORE_CAP_IB_MAD | RDMA_CORE_CAP_IB_CM | \
   RDMA_CORE_CAP_AF_IB | RDMA_CORE_CAP_ETH_AH)
// A port of Omni-Path.
#define RDMA_CORE_PORT_INTEL_OPA                                                               \
  (RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_MAD | RDMA_CORE_CAP_IB_SMI | RDMA_CORE_CAP_IB_CM | \
   RDMA_CORE_CAP_IB_SA | RDMA_CORE_CAP_AF_IB | RDMA_CORE_CAP_OPA_MAD)

// Bytes of a management datagram.
#define IB_MGMT_MAD_SIZE 256

// Whether all bits of `flags` are among what the port is able to do.
static inline bool rdma_core_cap(const struct ib_device* device, __u32 port_num, __u32 flags) {
  (void)device;
  (void)port_num;
  return (RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP & flags) == flags;
}

static inline bool rdma_cap_ib_switch(const struct ib_device* device) {
  (void)device;
  return false;
}
static inline __u32 rdma_start_port(const struct ib_device* device) {
  return rdma_cap_ib_switch(device) ? 0 : 1;
}
static inline __u32 rdma_end_port(const struct ib_device* device) {
  return rdma_cap_ib_switch(device) ? 0 : device->phys_port_cnt;
}
static inline int rdma_is_port_valid(const struct ib_device* device, unsigned int port) {
  return port >= rdma_start_port(device) && port <= rdma_end_port(device);
}
// for-loop head over the ports; `iter` is a __u32 variable, anything else does not compile.
#define rdma_for_each_port(device, iter)                                            \
  for (iter = rdma_start_port(device) + 0 * (__u32)sizeof(1 ? &(iter) : (__u32*)0); \
       iter <= rdma_end_port(device); ++iter)

static inline enum rdma_link_layer rdma_port_get_link_layer(struct ib_device* device,
                                                            __u32 port_num) {
  (void)device;
  (void)port_num;
  return IB_LINK_LAYER_ETHERNET;
}

static inline bool rdma_protocol_ib(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_PROT_IB);
}
static inline bool rdma_protocol_iwarp(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_PROT_IWARP);
}
static inline bool rdma_protocol_roce_udp_encap(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP);
}
static inline bool rdma_protocol_roce(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_PROT_ROCE) ||
         rdma_protocol_roce_udp_encap(device, port_num);
}

// Management datagrams: queue pair 1 (true), of Omni-Path (false), of subnet management (false:
// there is no queue pair 0).
static inline bool rdma_cap_ib_mad(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_IB_MAD);
}
static inline bool rdma_cap_opa_mad(struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_OPA_MAD);
}
static inline bool rdma_cap_ib_smi(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_IB_SMI);
}
// Bytes of the largest management datagram: 256.
static inline size_t rdma_max_mad_size(const struct ib_device* device, __u32 port_num) {
  return rdma_cap_ib_mad(device, port_num) ? IB_MGMT_MAD_SIZE : 0;
}

// Connections are made by InfiniBand's communication manager (true), iWARP's (false).
static inline bool rdma_cap_ib_cm(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_IB_CM);
}
static inline bool rdma_cap_iw_cm(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_IW_CM);
}
// Paths (and by the same bit membership of groups) are asked of a subnet administrator: false. It
// says nothing about ib_attach_mcast(), which works.
static inline bool rdma_cap_ib_sa(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_IB_SA);
}
static inline bool rdma_cap_ib_mcast(const struct ib_device* device, __u32 port_num) {
  return rdma_cap_ib_sa(device, port_num);
}
static inline bool rdma_cap_af_ib(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_AF_IB);
}

// Address handles carry a MAC address (true), a LID of 32 bits (false).
static inline bool rdma_cap_eth_ah(const struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_ETH_AH);
}
static inline bool rdma_cap_opa_ah(struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_CAP_OPA_AH);
}
static inline bool rdma_core_cap_opa_port(struct ib_device* device, __u32 port_num) {
  return rdma_core_cap(device, port_num, RDMA_CORE_PORT_INTEL_OPA);
}

// Whether the device is told of entries of its GID table by add_gid and del_gid. Ours is not, like
// the kernel's rxe: the table is made of the port's addresses.
static inline bool rdma_cap_roce_gid_table(const struct ib_device* device, __u32 port_num) {
  return rdma_protocol_roce(device, port_num) && device->ops != NULL &&
         device->ops->add_gid != NULL && device->ops->del_gid != NULL;
}

// Bytes of the path MTU value `mtu` on this port, -1 for a value that is none.
static inline int rdma_mtu_enum_to_int(struct ib_device* device, __u32 port, int mtu) {
  (void)device;
  (void)port;
  return ib_mtu_enum_to_int((enum ib_mtu)mtu);
}
// Bytes of attr->max_mtu (not of active_mtu).
static inline int rdma_mtu_from_attr(struct ib_device* device, __u32 port,
                                     struct ib_port_attr* attr) {
  return rdma_mtu_enum_to_int(device, port, attr->max_mtu);
}

// A LID of 32 bits as one of 16, in host and in network order. There are none on RoCE: they are 0.
// Bits that are lost are told to the log, once.
__u16 ib_lid_cpu16(__u32 lid);
__be16 ib_lid_be16(__u32 lid);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_PORT_H
