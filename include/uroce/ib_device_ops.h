// SPDX-License-Identifier: BSD-3-Clause
// What stands behind a device: the functions that its verbs lead to.
//
// A program that wants a device of its own (a stub for its tests, a device that watches another)
// fills an ib_device and its objects itself and sets `ops`. A verb whose member is NULL answers
// -EOPNOTSUPP. Verbs that are not in the table, those of the packet path above all, do not look at
// it: they are for devices of uroce_device() only.
#ifndef UROCE_IB_DEVICE_OPS_H
#define UROCE_IB_DEVICE_OPS_H

#include <uroce/ib_ah.h>
#include <uroce/ib_cq.h>
#include <uroce/ib_mr.h>
#include <uroce/ib_netdev.h>
#include <uroce/ib_qp.h>
#include <uroce/ib_signature.h>
#include <uroce/ib_srq.h>
#include <uroce/ib_stats.h>
#include <uroce/ib_udata.h>

#ifdef __cplusplus
extern "C" {
#endif

// Arguments, results and threads are those of the verb that a member is named after. Checks that
// hold for every device have been made when a member is called.
struct ib_device_ops {
  int (*attach_mcast)(struct ib_qp* qp, union ib_gid* gid, __u16 lid);
  int (*detach_mcast)(struct ib_qp* qp, union ib_gid* gid, __u16 lid);

  struct ib_ah* (*create_ah)(struct ib_pd* pd, struct rdma_ah_attr* ah_attr, __u32 flags);
  struct ib_ah* (*create_user_ah)(struct ib_pd* pd, struct rdma_ah_attr* ah_attr,
                                  struct ib_udata* udata);
  int (*modify_ah)(struct ib_ah* ah, struct rdma_ah_attr* ah_attr);
  int (*query_ah)(struct ib_ah* ah, struct rdma_ah_attr* ah_attr);

  struct ib_srq* (*create_srq)(struct ib_pd* pd, struct ib_srq_init_attr* srq_init_attr);
  int (*modify_srq)(struct ib_srq* srq, struct ib_srq_attr* srq_attr, enum ib_srq_attr_mask mask);
  int (*query_srq)(struct ib_srq* srq, struct ib_srq_attr* srq_attr);

  struct ib_qp* (*create_qp)(struct ib_pd* pd, struct ib_qp_init_attr* init_attr);
  // udata is NULL for ib_modify_qp() and never NULL for ib_modify_qp_with_udata().
  int (*modify_qp)(struct ib_qp* qp, struct ib_qp_attr* qp_attr, int qp_attr_mask,
                   struct ib_udata* udata);
  int (*query_qp)(struct ib_qp* qp, struct ib_qp_attr* qp_attr, int qp_attr_mask,
                  struct ib_qp_init_attr* qp_init_attr);

  int (*modify_cq)(struct ib_cq* cq, __u16 cq_count, __u16 cq_period);

  struct ib_mr* (*alloc_mr)(struct ib_pd* pd, enum ib_mr_type mr_type, __u32 max_num_sg);
  struct ib_mr* (*alloc_mr_integrity)(struct ib_pd* pd, __u32 max_num_data_sg,
                                      __u32 max_num_meta_sg);
  int (*check_mr_status)(struct ib_mr* mr, __u32 check_mask, struct ib_mr_status* mr_status);

  struct rdma_hw_stats* (*alloc_hw_port_stats)(struct ib_device* device, __u32 port_num);
  int (*get_hw_stats)(struct ib_device* device, struct rdma_hw_stats* stats, __u32 port_num);

  struct net_device* (*alloc_rdma_netdev)(struct ib_device* device, __u32 port_num,
                                          enum rdma_netdev_t type, const char* name,
                                          unsigned char name_assign_type,
                                          void (*setup)(struct net_device*));

  // Told of entries that come into the GID table and go. Devices here have neither.
  int (*add_gid)(const struct ib_gid_attr* attr, void** context);
  int (*del_gid)(const struct ib_gid_attr* attr, void** context);
};

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_DEVICE_OPS_H
