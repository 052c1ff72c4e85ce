// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs of the native face as objects: creation, change, query, end.
#include <cerrno>
#include <memory>
#include <new>

#include "device/live_objects.h"
#include "device/verbs_attributes.h"
#include "transport/qp_state.h"
#include "verbs/driver.h"
#include "verbs/handles.h"
#include "verbs/object_end.h"
#include "verbs/xrc.h"

namespace uroce::verbs {
namespace {

// IBA 10.3.1: the numbers of states, types and mask bits are the transport's.
static_assert(IB_QPS_ERR == static_cast<int>(transport::QpState::kErr) &&
              IB_QPT_UD == static_cast<int>(transport::QpType::kUd) &&
              IB_QP_DEST_QPN == int{transport::kAttrDestQpn});

int check_init(const ib_pd* pd, const ib_qp_init_attr& init) {
  switch (init.qp_type) {
    case IB_QPT_RC:
    case IB_QPT_UC:
    case IB_QPT_UD:
    case IB_QPT_GSI:
    case IB_QPT_XRC_INI:
    case IB_QPT_XRC_TGT:
      break;
    default:
      return -EOPNOTSUPP;
  }
  if ((init.create_flags & ~unsigned{IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK}) != 0) {
    return -EOPNOTSUPP;
  }
  if (init.rwq_ind_tbl != nullptr) return -EINVAL;
  if ((init.qp_type == IB_QPT_XRC_TGT) != (init.xrcd != nullptr)) return -EINVAL;
  if (init.xrcd != nullptr) return 0;
  const bool receives = init.qp_type != IB_QPT_XRC_INI;
  if (init.send_cq == nullptr || (init.recv_cq == nullptr && receives)) return -EINVAL;
  if (init.send_cq->device != pd->device) return -EINVAL;
  if (receives && init.recv_cq->device != pd->device) return -EINVAL;
  if (init.srq != nullptr && init.srq->device != pd->device) return -EINVAL;
  return init.qp_type == IB_QPT_GSI && init.port_num != 1 ? -EINVAL : 0;
}

device::QpRequest to_request(const ib_qp_init_attr& init, ib_qp* user) {
  device::QpRequest request;
  request.type = static_cast<transport::QpType>(init.qp_type);
  request.capabilities = device::to_capabilities(init.cap);
  request.send_cq = of(init.send_cq).handle.object;
  if (init.recv_cq != nullptr) request.recv_cq = of(init.recv_cq).handle.object;
  if (init.srq != nullptr) request.srq = of(init.srq).handle.object;
  request.signal_all = init.sq_sig_type == IB_SIGNAL_ALL_WR;
  request.block_multicast_loopback =
      (init.create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK) != 0;
  request.user = user;
  return request;
}

// IBA 10.2.5: a Q_Key of the upper half is for the privileged.
bool needs_privilege(const ib_qp& qp, const ib_qp_attr& attr, int mask) {
  return (mask & IB_QP_QKEY) != 0 && attr.qkey > 0x7FFFFFFF && !device_of(qp).privileged_qkey();
}

}  // namespace
}  // namespace uroce::verbs

using namespace uroce;
using namespace uroce::verbs;

ib_qp* driver::create_qp(ib_pd* pd, ib_qp_init_attr* init_attr) {
  if (const int error = check_init(pd, *init_attr); error != 0) {
    return error_pointer<ib_qp>(error);
  }
  if (init_attr->xrcd != nullptr) return create_target(*init_attr);
  auto* qp = new (std::nothrow) Qp{};
  if (qp == nullptr) return error_pointer<ib_qp>(-ENOMEM);
  qp->device = pd->device;
  qp->pd = pd;
  qp->send_cq = init_attr->send_cq;
  qp->recv_cq = init_attr->qp_type != IB_QPT_XRC_INI ? init_attr->recv_cq : nullptr;
  qp->real_qp = qp;
  qp->srq = init_attr->srq;
  qp->event_handler = init_attr->event_handler;
  qp->qp_context = init_attr->qp_context;
  qp->qp_type = init_attr->qp_type;
  qp->port = 1;
  ib_qp* const user = qp;
  // Before the first event can come.
  uroce::device::LiveObjects::instance().add(user);
  const int error =
      device_of(*pd).create_qp(*of(pd).object, to_request(*init_attr, user), qp->handle);
  if (error != 0) {
    uroce::device::LiveObjects::instance().remove(user);
    delete qp;
    return error_pointer<ib_qp>(error);
  }
  qp->qp_num = qp->handle.qpn.value();
  init_attr->cap = uroce::device::from_capabilities<ib_qp_cap>(qp->handle.capabilities);
  of(pd->device).objects.keep(qp);
  return qp;
}

int driver::modify_qp(ib_qp* qp, ib_qp_attr* qp_attr, int qp_attr_mask, ib_udata* udata) {
  // IBA 11.2.5.2.
  uroce::device::QpChange change;
  change.mask = static_cast<uint32_t>(qp_attr_mask);
  if (change.mask >= 1u << 21) return -EOPNOTSUPP;
  if ((qp_attr_mask & IB_QP_AV) != 0) {
    if (const int error = to_path(qp_attr->ah_attr, change.path); error != 0) return error;
  }
  if (!uroce::device::fits(*qp_attr, change.mask)) return -EINVAL;
  if (udata != nullptr) {
    if (needs_privilege(*qp, *qp_attr, qp_attr_mask)) return -EPERM;
    change.path.dmac = {};  // to be found
  }
  change.attributes = uroce::device::to_attributes(*qp_attr);
  return device_of(*qp).modify_qp(real_of(*qp).handle, change);
}

int driver::query_qp(ib_qp* qp, ib_qp_attr* qp_attr, int /*qp_attr_mask*/,
                     ib_qp_init_attr* qp_init_attr) {
  uroce::device::QpChange now;
  if (const int error = device_of(*qp).query_qp(real_of(*qp).handle, now); error != 0) return error;
  *qp_attr = {};
  uroce::device::from_attributes(now.attributes, *qp_attr);
  if ((now.mask & transport::kAttrAv) != 0) from_path(now.path, qp_attr->ah_attr);
  qp_attr->cap = uroce::device::from_capabilities<ib_qp_cap>(real_of(*qp).handle.capabilities);

  const uroce::device::Qp& object = *real_of(*qp).handle.object;
  *qp_init_attr = {};
  qp_init_attr->event_handler = qp->event_handler;
  qp_init_attr->qp_context = qp->qp_context;
  qp_init_attr->send_cq = qp->send_cq;
  qp_init_attr->recv_cq = qp->recv_cq;
  qp_init_attr->srq = qp->srq;
  qp_init_attr->xrcd = qp->xrcd;
  qp_init_attr->cap = qp_attr->cap;
  qp_init_attr->sq_sig_type = object.signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
  qp_init_attr->qp_type = qp->qp_type;
  qp_init_attr->create_flags =
      object.block_multicast_loopback ? IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0;
  qp_init_attr->port_num = 1;
  return 0;
}

int ib_destroy_qp(ib_qp* qp) { return ib_destroy_qp_user(qp, nullptr); }

int ib_destroy_qp_user(ib_qp* qp, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return -EINVAL;
  if (is_target_handle(*qp)) return close_handle(*qp);
  return end_object(of(qp), qp, [qp](const uroce::device::Quiesce& quiesce) {
    return device_of(*qp).destroy_qp(of(qp).handle, quiesce);
  });
}

bool ib_modify_qp_is_ok(ib_qp_state cur_state, ib_qp_state next_state, ib_qp_type type,
                        ib_qp_attr_mask mask) {
  const auto known = [](ib_qp_state state) { return static_cast<unsigned>(state) <= IB_QPS_ERR; };
  if (!known(cur_state) || !known(next_state)) return false;
  // The transport's narrower type would take 258 for RC.
  if (static_cast<unsigned>(type) >= IB_QPT_MAX) return false;
  return transport::modify_allowed(
      static_cast<transport::QpState>(cur_state), static_cast<transport::QpState>(next_state),
      static_cast<transport::QpType>(type), static_cast<uint32_t>(mask));
}
