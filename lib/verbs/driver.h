// SPDX-License-Identifier: BSD-3-Clause
// What the verbs that go through a device's table of functions do on devices of this library.
#ifndef UROCE_VERBS_DRIVER_H
#define UROCE_VERBS_DRIVER_H

#include <uroce/ib_verbs.h>

// Arguments and results: ib_device_ops.h.
namespace uroce::verbs::driver {

int attach_mcast(ib_qp* qp, ib_gid* gid, __u16 lid);
int detach_mcast(ib_qp* qp, ib_gid* gid, __u16 lid);
ib_ah* create_ah(ib_pd* pd, rdma_ah_attr* ah_attr, __u32 flags);
ib_ah* create_user_ah(ib_pd* pd, rdma_ah_attr* ah_attr, ib_udata* udata);
int modify_ah(ib_ah* ah, rdma_ah_attr* ah_attr);
int query_ah(ib_ah* ah, rdma_ah_attr* ah_attr);
ib_srq* create_srq(ib_pd* pd, ib_srq_init_attr* srq_init_attr);
int modify_srq(ib_srq* srq, ib_srq_attr* srq_attr, ib_srq_attr_mask mask);
int query_srq(ib_srq* srq, ib_srq_attr* srq_attr);
ib_qp* create_qp(ib_pd* pd, ib_qp_init_attr* init_attr);
int modify_qp(ib_qp* qp, ib_qp_attr* qp_attr, int qp_attr_mask, ib_udata* udata);
int query_qp(ib_qp* qp, ib_qp_attr* qp_attr, int qp_attr_mask, ib_qp_init_attr* qp_init_attr);
int modify_cq(ib_cq* cq, __u16 cq_count, __u16 cq_period);
ib_mr* alloc_mr(ib_pd* pd, ib_mr_type mr_type, __u32 max_num_sg);
ib_mr* alloc_mr_integrity(ib_pd* pd, __u32 max_num_data_sg, __u32 max_num_meta_sg);
int check_mr_status(ib_mr* mr, __u32 check_mask, ib_mr_status* mr_status);
rdma_hw_stats* alloc_hw_port_stats(ib_device* device, __u32 port_num);
int get_hw_stats(ib_device* device, rdma_hw_stats* stats, __u32 port_num);

extern const ib_device_ops kOps;

}  // namespace uroce::verbs::driver

#endif  // UROCE_VERBS_DRIVER_H
