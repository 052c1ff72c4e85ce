// SPDX-License-Identifier: BSD-3-Clause
// Verbs that go through the device's table of functions: what holds for every device is checked
// here, and a device that lacks a function says so.
#include <cerrno>

#include "verbs/driver.h"
#include "verbs/handles.h"

namespace uroce::verbs {
namespace driver {

constinit const ib_device_ops kOps{
    .attach_mcast = attach_mcast,
    .detach_mcast = detach_mcast,
    .create_ah = create_ah,
    .create_user_ah = create_user_ah,
    .modify_ah = modify_ah,
    .query_ah = query_ah,
    .create_srq = create_srq,
    .modify_srq = modify_srq,
    .query_srq = query_srq,
    .create_qp = create_qp,
    .modify_qp = modify_qp,
    .query_qp = query_qp,
    .modify_cq = modify_cq,
    .alloc_mr = alloc_mr,
    .alloc_mr_integrity = alloc_mr_integrity,
    .check_mr_status = check_mr_status,
    .alloc_hw_port_stats = alloc_hw_port_stats,
    .get_hw_stats = get_hw_stats,
    .alloc_rdma_netdev = nullptr,  // a port's network interface is not ours to make
    .add_gid = nullptr,            // the GID table is made of the port's addresses
    .del_gid = nullptr,
};

}  // namespace driver

namespace {

template <typename... P, typename... A>
int call(int (*function)(P...), A... arguments) {
  return function != nullptr ? function(arguments...) : -EOPNOTSUPP;
}

template <typename T, typename... P, typename... A>
T* call(T* (*function)(P...), A... arguments) {
  return function != nullptr ? function(arguments...) : error_pointer<T>(-EOPNOTSUPP);
}

// Attach and detach: which function there is comes before what it is asked.
int call_with_group(int (*function)(ib_qp*, ib_gid*, __u16), ib_qp* qp, ib_gid* gid, __u16 lid) {
  if (function == nullptr) return -EOPNOTSUPP;
  // IBA 11.3.1: a group, and an unreliable datagram queue pair.
  if (!rdma_is_multicast_gid(gid) || qp->qp_type != IB_QPT_UD) return -EINVAL;
  return function(qp, gid, lid);
}

}  // namespace
}  // namespace uroce::verbs

using namespace uroce::verbs;

int ib_attach_mcast(ib_qp* qp, ib_gid* gid, __u16 lid) {
  return call_with_group(qp->device->ops->attach_mcast, qp, gid, lid);
}

int ib_detach_mcast(ib_qp* qp, ib_gid* gid, __u16 lid) {
  return call_with_group(qp->device->ops->detach_mcast, qp, gid, lid);
}

ib_ah* rdma_create_ah(ib_pd* pd, rdma_ah_attr* ah_attr, __u32 flags) {
  return call(pd->device->ops->create_ah, pd, ah_attr, flags);
}

ib_ah* rdma_create_user_ah(ib_pd* pd, rdma_ah_attr* ah_attr, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return error_pointer<ib_ah>(-EINVAL);
  return call(pd->device->ops->create_user_ah, pd, ah_attr, udata);
}

int rdma_modify_ah(ib_ah* ah, rdma_ah_attr* ah_attr) {
  return call(ah->device->ops->modify_ah, ah, ah_attr);
}

int rdma_query_ah(ib_ah* ah, rdma_ah_attr* ah_attr) {
  return call(ah->device->ops->query_ah, ah, ah_attr);
}

ib_srq* ib_create_srq(ib_pd* pd, ib_srq_init_attr* srq_init_attr) {
  return call(pd->device->ops->create_srq, pd, srq_init_attr);
}

int ib_modify_srq(ib_srq* srq, ib_srq_attr* srq_attr, ib_srq_attr_mask mask) {
  return call(srq->device->ops->modify_srq, srq, srq_attr, mask);
}

int ib_query_srq(ib_srq* srq, ib_srq_attr* srq_attr) {
  return call(srq->device->ops->query_srq, srq, srq_attr);
}

ib_qp* ib_create_qp(ib_pd* pd, ib_qp_init_attr* init_attr) {
  // An XRC target has no domain of protection; its XRC domain knows the device.
  const ib_device* device = pd != nullptr                ? pd->device
                            : init_attr->xrcd != nullptr ? init_attr->xrcd->device
                                                         : nullptr;
  if (device == nullptr) return error_pointer<ib_qp>(-EINVAL);
  return call(device->ops->create_qp, pd, init_attr);
}

int ib_modify_qp(ib_qp* qp, ib_qp_attr* qp_attr, int qp_attr_mask) {
  return call(qp->device->ops->modify_qp, qp, qp_attr, qp_attr_mask, nullptr);
}

int ib_modify_qp_with_udata(ib_qp* qp, ib_qp_attr* attr, int attr_mask, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return -EINVAL;
  ib_udata none{};  // tells the user's form from the plain one
  return call(qp->device->ops->modify_qp, qp, attr, attr_mask, &none);
}

int ib_query_qp(ib_qp* qp, ib_qp_attr* qp_attr, int qp_attr_mask, ib_qp_init_attr* qp_init_attr) {
  return call(qp->device->ops->query_qp, qp, qp_attr, qp_attr_mask, qp_init_attr);
}

int rdma_set_cq_moderation(ib_cq* cq, __u16 cq_count, __u16 cq_period) {
  return call(cq->device->ops->modify_cq, cq, cq_count, cq_period);
}

ib_mr* ib_alloc_mr(ib_pd* pd, ib_mr_type mr_type, __u32 max_num_sg) {
  return call(pd->device->ops->alloc_mr, pd, mr_type, max_num_sg);
}

ib_mr* ib_alloc_mr_integrity(ib_pd* pd, __u32 max_num_data_sg, __u32 max_num_meta_sg) {
  return call(pd->device->ops->alloc_mr_integrity, pd, max_num_data_sg, max_num_meta_sg);
}

int ib_check_mr_status(ib_mr* mr, __u32 check_mask, ib_mr_status* mr_status) {
  return call(mr->device->ops->check_mr_status, mr, check_mask, mr_status);
}

rdma_hw_stats* ib_alloc_hw_port_stats(ib_device* device, __u32 port_num) {
  return call(device->ops->alloc_hw_port_stats, device, port_num);
}

int ib_get_hw_stats(ib_device* device, rdma_hw_stats* stats, __u32 port_num) {
  return call(device->ops->get_hw_stats, device, stats, port_num);
}

net_device* rdma_alloc_netdev(ib_device* device, __u32 port_num, rdma_netdev_t type,
                              const char* name, unsigned char name_assign_type,
                              void (*setup)(net_device*)) {
  return call(device->ops->alloc_rdma_netdev, device, port_num, type, name, name_assign_type,
              setup);
}
