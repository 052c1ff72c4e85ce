// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs of the native face as objects: creation, change, query, end.
#include <cerrno>
#include <memory>
#include <new>

#include "device/live_objects.h"
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
  request.capabilities = {.send_wr_max = init.cap.max_send_wr,
                          .recv_wr_max = init.cap.max_recv_wr,
                          .send_sge_max = init.cap.max_send_sge,
                          .recv_sge_max = init.cap.max_recv_sge,
                          .inline_bytes_max = init.cap.max_inline_data};
  request.send_cq = of(init.send_cq).handle.object;
  if (init.recv_cq != nullptr) request.recv_cq = of(init.recv_cq).handle.object;
  if (init.srq != nullptr) request.srq = of(init.srq).handle.object;
  request.signal_all = init.sq_sig_type == IB_SIGNAL_ALL_WR;
  request.block_multicast_loopback =
      (init.create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK) != 0;
  request.user = user;
  return request;
}

ib_qp_cap granted(const transport::QpCapabilities& capabilities) {
  return {.max_send_wr = capabilities.send_wr_max,
          .max_recv_wr = capabilities.recv_wr_max,
          .max_send_sge = capabilities.send_sge_max,
          .max_recv_sge = capabilities.recv_sge_max,
          .max_inline_data = capabilities.inline_bytes_max,
          .max_rdma_ctxs = 0};
}

transport::QpAttributes to_attributes(const ib_qp_attr& attr) {
  transport::QpAttributes to;
  to.state = static_cast<transport::QpState>(attr.qp_state);
  to.current_state = static_cast<transport::QpState>(attr.cur_qp_state);
  to.path_mtu = static_cast<PathMtu>(attr.path_mtu);
  to.rq_psn = Psn(attr.rq_psn);
  to.sq_psn = Psn(attr.sq_psn);
  to.dest_qpn = Qpn(attr.dest_qp_num);
  to.qkey = attr.qkey;
  to.access = static_cast<uint32_t>(attr.qp_access_flags);
  to.timeout = attr.timeout;
  to.retry_count = attr.retry_cnt;
  to.rnr_retry = attr.rnr_retry;
  to.min_rnr_timer = attr.min_rnr_timer;
  to.rd_atomic_max = attr.max_rd_atomic;
  to.dest_rd_atomic_max = attr.max_dest_rd_atomic;
  to.pkey_index = static_cast<uint8_t>(attr.pkey_index);
  to.port = static_cast<uint8_t>(attr.port_num);
  to.sqd_async_notify = attr.en_sqd_async_notify != 0;
  return to;
}

void from_attributes(const transport::QpAttributes& from, ib_qp_attr& attr) {
  attr.qp_state = static_cast<ib_qp_state>(from.state);
  attr.cur_qp_state = attr.qp_state;
  attr.path_mtu = static_cast<ib_mtu>(from.path_mtu);
  attr.rq_psn = from.rq_psn.value();
  attr.sq_psn = from.sq_psn.value();
  attr.dest_qp_num = from.dest_qpn.value();
  attr.qkey = from.qkey;
  attr.qp_access_flags = static_cast<int>(from.access);
  attr.timeout = from.timeout;
  attr.retry_cnt = from.retry_count;
  attr.rnr_retry = from.rnr_retry;
  attr.min_rnr_timer = from.min_rnr_timer;
  attr.max_rd_atomic = from.rd_atomic_max;
  attr.max_dest_rd_atomic = from.dest_rd_atomic_max;
  attr.pkey_index = from.pkey_index;
  attr.port_num = from.port;
  attr.en_sqd_async_notify = from.sqd_async_notify ? 1 : 0;
  attr.sq_draining = from.sq_draining ? 1 : 0;
}

// Values that do not fit the transport's narrower fields, which would hide them from its checks.
bool fits(const ib_qp_attr& attr, int mask) {
  const auto is = [mask](int bits) { return (mask & bits) != 0; };
  return !(is(IB_QP_STATE) && static_cast<unsigned>(attr.qp_state) > IB_QPS_ERR) &&
         !(is(IB_QP_CUR_STATE) && static_cast<unsigned>(attr.cur_qp_state) > IB_QPS_ERR) &&
         !(is(IB_QP_PATH_MTU) && static_cast<unsigned>(attr.path_mtu) > IB_MTU_4096) &&
         !(is(IB_QP_PKEY_INDEX) && attr.pkey_index > 0xFF) &&
         !(is(IB_QP_PORT) && attr.port_num > 0xFF);
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
  init_attr->cap = granted(qp->handle.capabilities);
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
  if (!fits(*qp_attr, qp_attr_mask)) return -EINVAL;
  if (udata != nullptr) {
    if (needs_privilege(*qp, *qp_attr, qp_attr_mask)) return -EPERM;
    change.path.dmac = {};  // to be found
  }
  change.attributes = to_attributes(*qp_attr);
  return device_of(*qp).modify_qp(real_of(*qp).handle, change);
}

int driver::query_qp(ib_qp* qp, ib_qp_attr* qp_attr, int /*qp_attr_mask*/,
                     ib_qp_init_attr* qp_init_attr) {
  uroce::device::QpChange now;
  if (const int error = device_of(*qp).query_qp(real_of(*qp).handle, now); error != 0) return error;
  *qp_attr = {};
  from_attributes(now.attributes, *qp_attr);
  if ((now.mask & transport::kAttrAv) != 0) from_path(now.path, qp_attr->ah_attr);
  qp_attr->cap = granted(real_of(*qp).handle.capabilities);

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
