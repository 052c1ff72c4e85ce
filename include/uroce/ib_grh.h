// SPDX-License-Identifier: BSD-3-Clause
// The network header that stands before a datagram in its receive buffer, and the way back to its
// sender.
#ifndef UROCE_IB_GRH_H
#define UROCE_IB_GRH_H

#include <uroce/ib_ah.h>
#include <uroce/ib_cq.h>

#ifdef __cplusplus
extern "C" {
#endif

// An IPv6 header in the words of InfiniBand; 40 bytes, network order.
struct ib_grh {
  __be32 version_tclass_flow;
  __be16 paylen;
  __u8 next_hdr;
  __u8 hop_limit;
  union ib_gid sgid;
  union ib_gid dgid;
};

// An IPv4 header without options; 20 bytes, network order. (The kernel's structure is iphdr, whose
// two headers in user space exclude each other.)
struct rdma_ipv4_header {
  __u8 version_ihl;
  __u8 tos;
  __be16 tot_len;
  __be16 id;
  __be16 frag_off;
  __u8 ttl;
  __u8 protocol;
  __be16 check;
  __be32 saddr;
  __be32 daddr;
};

// The 40 bytes before the payload of a received datagram.
union rdma_network_hdr {
  struct ib_grh ibgrh;
  __extension__ struct {
    __u8 reserved[20];
    struct rdma_ipv4_header roce4grh;
  };
};

// 4 or 6, or 0 when the bytes are neither. The first 20 bytes before an IPv4 header may hold
// anything, so they decide only together with its checksum. Any thread.
int ib_get_rdma_header_version(const union rdma_network_hdr* hdr);

// Source and destination as GIDs; nothing of the header is checked. -EINVAL: a NULL, or a net_type
// that is none. Any thread.
int ib_get_gids_from_rdma_hdr(const union rdma_network_hdr* hdr, enum rdma_network_type net_type,
                              union ib_gid* sgid, union ib_gid* dgid);

// The address of a datagram's sender, as an answer needs it: from the GID that it was sent to, hop
// limit 64, flow label and traffic class of an IPv6 header (IPv4: 0), and the MAC address that the
// frame came from (a completion without IB_WC_WITH_SMAC leaves it 0: to be found). `grh` is the
// start of the receive buffer.
//
// -EINVAL: no such port, or a header that is none; -EPROTOTYPE: a completion without IB_WC_GRH;
// -ENOENT: what it was sent to is no address of this port (a group, a RoCEv1 packet), or came by
// another VLAN. To be followed by rdma_destroy_ah_attr().
int ib_init_ah_attr_from_wc(struct ib_device* device, __u32 port_num, const struct ib_wc* wc,
                            const struct ib_grh* grh, struct rdma_ah_attr* ah_attr);

// Gives back what the attributes hold of the GID table: nothing here.
static inline void rdma_destroy_ah_attr(struct rdma_ah_attr* ah_attr) {
  ah_attr->grh.sgid_attr = NULL;
}

// An address handle to a datagram's sender. ERR_PTR: what ib_init_ah_attr_from_wc() and
// rdma_create_ah() say.
struct ib_ah* ib_create_ah_from_wc(struct ib_pd* pd, const struct ib_wc* wc,
                                   const struct ib_grh* grh, __u32 port_num);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_GRH_H
