// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs as objects: creation, change, query, end. A handle of an XRC target stands for a
// queue pair that others may have open too: xrc.cc.
#include <cerrno>

#include "device/verbs_attributes.h"
#include "ibverbs/data_path.h"
#include "ibverbs/object_making.h"
#include "ibverbs/operations.h"
#include "ibverbs/paths.h"
#include "ibverbs/xrc.h"

namespace uroce::ibverbs {
namespace {

static_assert(IBV_QPS_ERR == static_cast<int>(transport::QpState::kErr) &&
              IBV_QPT_XRC_RECV == static_cast<int>(transport::QpType::kXrcTgt) &&
              IBV_QP_DEST_QPN == int{transport::kAttrDestQpn});

// Rights of memory that programs repeat where those of a queue pair are asked for.
constexpr unsigned kOfMemoryOnly =
    IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;

bool has(const ibv_qp_init_attr_ex& init, uint32_t mask) { return (init.comp_mask & mask) != 0; }

bool is_known_type(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_RC:
    case IBV_QPT_UC:
    case IBV_QPT_UD:
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_XRC_RECV:
      return true;
    default:
      return false;
  }
}

// Whether everything that a queue pair of its type needs is there, and of the same context.
bool is_complete(const ibv_context* context, const ibv_qp_init_attr_ex& init) {
  if (init.qp_type == IBV_QPT_XRC_RECV) {
    return has(init, IBV_QP_INIT_ATTR_XRCD) && init.xrcd != nullptr &&
           init.xrcd->context == context;
  }
  if (!has(init, IBV_QP_INIT_ATTR_PD) || init.pd == nullptr || init.pd->context != context) {
    return false;
  }
  const bool receives = init.qp_type != IBV_QPT_XRC_SEND;
  if (init.send_cq == nullptr || init.send_cq->context != context) return false;
  if (receives && (init.recv_cq == nullptr || init.recv_cq->context != context)) return false;
  return init.srq == nullptr || init.srq->context == context;
}

// 0 or a negative errno.
int check(const ibv_context* context, const ibv_qp_init_attr_ex& init) {
  constexpr uint32_t kMasks = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
                              IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  if (!is_known_type(init.qp_type) || (init.comp_mask & ~kMasks) != 0) return -EOPNOTSUPP;
  if (has(init, IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
      (init.create_flags & ~uint32_t{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}) != 0) {
    return -EOPNOTSUPP;
  }
  if (has(init, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
      !can_build(static_cast<transport::QpType>(init.qp_type), init.send_ops_flags)) {
    return -EOPNOTSUPP;
  }
  return is_complete(context, init) ? 0 : -EINVAL;
}

device::QpRequest to_request(const ibv_qp_init_attr_ex& init, Qp& user) {
  device::QpRequest request;
  request.type = static_cast<transport::QpType>(init.qp_type);
  request.capabilities = device::to_capabilities(init.cap);
  request.send_cq = of(init.send_cq).handle.object;
  if (init.recv_cq != nullptr) request.recv_cq = of(init.recv_cq).handle.object;
  if (init.srq != nullptr) request.srq = of(init.srq).handle.object;
  request.signal_all = init.sq_sig_all != 0;
  request.block_multicast_loopback = has(init, IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
                                     (init.create_flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) != 0;
  request.user = &user;
  return request;
}

void fill(const ibv_qp_init_attr_ex& init, ibv_qp& qp) {
  qp.qp_context = init.qp_context;
  qp.pd = init.pd;
  qp.send_cq = init.send_cq;
  qp.recv_cq = init.qp_type != IBV_QPT_XRC_SEND ? init.recv_cq : nullptr;
  qp.srq = init.srq;
  qp.state = IBV_QPS_RESET;
  qp.qp_type = init.qp_type;
}

Qp* create(ibv_context* context, ibv_qp_init_attr_ex& init) {
  if (const int error = check(context, init); error != 0) return refuse<Qp>(error);
  if (init.qp_type == IBV_QPT_XRC_RECV) return create_target(context, init);
  Qp* const made = make_live<Qp>(
      context,
      [&](Qp& qp) {
        qp.qp_base.context = context;
        fill(init, qp.qp_base);
      },
      [&](device::Device& device, Qp& qp) {
        return device.create_qp(*of(init.pd).object, to_request(init, qp), qp.handle);
      });
  if (made == nullptr) return nullptr;
  made->qp_base.handle = made->qp_base.qp_num = made->handle.qpn.value();
  init.cap = device::from_capabilities<ibv_qp_cap>(made->handle.capabilities);
  if (has(init, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) install_builders(*made, init.send_ops_flags);
  ++of(init.pd).uses;
  return made;
}

}  // namespace

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* init_attr) {
  Qp* const made = create(context, *init_attr);
  return made != nullptr ? plain(*made) : nullptr;
}

}  // namespace uroce::ibverbs

using namespace uroce;
using namespace uroce::ibverbs;

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* qp_init_attr) {
  ibv_qp_init_attr_ex init{};
  init.qp_context = qp_init_attr->qp_context;
  init.send_cq = qp_init_attr->send_cq;
  init.recv_cq = qp_init_attr->recv_cq;
  init.srq = qp_init_attr->srq;
  init.cap = qp_init_attr->cap;
  init.qp_type = qp_init_attr->qp_type;
  init.sq_sig_all = qp_init_attr->sq_sig_all;
  init.comp_mask = IBV_QP_INIT_ATTR_PD;
  init.pd = pd;
  ibv_qp* const made = create_qp_ex(pd->context, &init);
  if (made != nullptr) qp_init_attr->cap = init.cap;
  return made;
}

// The two halves of a queue pair's structure for ibv_wr_…(), where it was made for them.
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) { return of(qp).builds ? &of(qp) : nullptr; }

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  // IBA 11.2.5.2.
  device::QpChange change;
  change.mask = static_cast<uint32_t>(attr_mask);
  if ((attr_mask & IBV_QP_AV) != 0) change.path = to_path(attr->ah_attr);
  if (!device::fits(*attr, change.mask)) return EINVAL;
  change.attributes = device::to_attributes(*attr);
  change.attributes.access &= ~kOfMemoryOnly;
  device::Device* device = nullptr;
  int error = reach_device(qp->context, device);
  if (error == 0) error = device->modify_qp(real_of(*qp).handle, change);
  if (error == 0 && (attr_mask & IBV_QP_STATE) != 0) qp->state = attr->qp_state;
  return positive(error);
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int /*attr_mask*/, ibv_qp_init_attr* init_attr) {
  Qp& real = real_of(*qp);
  device::QpChange now;
  device::Device* device = nullptr;
  int error = reach_device(qp->context, device);
  if (error == 0) error = device->query_qp(real.handle, now);
  if (error != 0) return positive(error);
  *attr = {};
  device::from_attributes(now.attributes, *attr);
  if ((now.mask & transport::kAttrAv) != 0) attr->ah_attr = from_path(now.path);
  attr->path_mig_state = IBV_MIG_MIGRATED;
  attr->cap = device::from_capabilities<ibv_qp_cap>(real.handle.capabilities);
  qp->state = attr->qp_state;

  *init_attr = {};
  init_attr->qp_context = qp->qp_context;
  init_attr->send_cq = qp->send_cq;
  init_attr->recv_cq = qp->recv_cq;
  init_attr->srq = qp->srq;
  init_attr->cap = attr->cap;
  init_attr->qp_type = qp->qp_type;
  init_attr->sq_sig_all = real.handle.object->signal_all ? 1 : 0;
  return 0;
}

int ibv_destroy_qp(ibv_qp* qp) {
  if (qp->qp_type == IBV_QPT_XRC_RECV) return close_target(*qp);
  Pd& domain = of(qp->pd);
  const int error = end_live_object(qp->context, of(qp),
                                    [qp](device::Device& device, const device::Quiesce& quiesce) {
                                      return device.destroy_qp(of(qp).handle, quiesce);
                                    });
  if (error == 0) --domain.uses;
  return error;
}
