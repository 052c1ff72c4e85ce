// SPDX-License-Identifier: BSD-3-Clause
// Network devices that an RDMA driver carries (IP over InfiniBand, Omni-Path's VNIC): none here.
#ifndef UROCE_IB_NETDEV_H
#define UROCE_IB_NETDEV_H

#include <uroce/ib_device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct net_device;
struct sk_buff;
struct ib_ah;

enum rdma_netdev_t { RDMA_NETDEV_OPA_VNIC, RDMA_NETDEV_IPOIB };

// The RDMA part of such a device.
struct rdma_netdev {
  void* clnt_priv;
  struct ib_device* hca;
  __u32 port_num;
  int mtu;
  void (*free_rdma_netdev)(struct net_device* netdev);
  void (*set_id)(struct net_device* netdev, int id);
  int (*send)(struct net_device* dev, struct sk_buff* skb, struct ib_ah* address, __u32 dqpn);
  int (*attach_mcast)(struct net_device* dev, struct ib_device* hca, union ib_gid* gid, __u16 mlid,
                      int set_qkey, __u32 qkey);
  int (*detach_mcast)(struct net_device* dev, struct ib_device* hca, union ib_gid* gid, __u16 mlid);
  void (*tx_timeout)(struct net_device* dev, unsigned int txqueue);
};

// ERR_PTR(-EOPNOTSUPP) from every device of this library: the network interface of a port stays the
// kernel's, or DPDK's.
struct net_device* rdma_alloc_netdev(struct ib_device* device, __u32 port_num,
                                     enum rdma_netdev_t type, const char* name,
                                     unsigned char name_assign_type,
                                     void (*setup)(struct net_device*));

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_NETDEV_H
