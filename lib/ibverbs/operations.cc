// SPDX-License-Identifier: BSD-3-Clause
// The tables of an opened device.
#include "ibverbs/operations.h"

#include "ibverbs/data_path.h"

namespace uroce::ibverbs {
namespace {

int query_port_short(ibv_context* context, uint8_t port_num, _compat_ibv_port_attr* port_attr) {
  return (ibv_query_port)(context, port_num, port_attr);
}

}  // namespace

void install_operations(verbs_context& verbs) {
  verbs.sz = sizeof verbs;
  verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;

  ibv_context_ops& ops = verbs.context.ops;
  ops._compat_query_device = ibv_query_device;
  ops._compat_query_port = query_port_short;
  ops.alloc_mw = alloc_mw;
  ops.dealloc_mw = dealloc_mw;
  ops.bind_mw = bind_mw;
  ops.post_send = post_send;
  ops.post_recv = post_recv;
  ops.post_srq_recv = post_srq_recv;
  ops.poll_cq = poll_cq;
  ops.req_notify_cq = req_notify_cq;

  verbs.query_device_ex = query_device_ex;
  verbs.query_port = query_port;
  verbs.query_rt_values = query_rt_values;

  verbs.alloc_td = alloc_td;
  verbs.dealloc_td = dealloc_td;
  verbs.alloc_parent_domain = alloc_parent_domain;

  verbs.advise_mr = advise_mr;
  verbs.alloc_dm = alloc_dm;
  verbs.free_dm = free_dm;
  verbs.reg_dm_mr = reg_dm_mr;

  verbs.create_cq_ex = create_cq_ex;
  verbs.modify_cq = modify_cq;

  verbs.create_qp_ex = create_qp_ex;
  verbs.open_qp = open_qp;
  verbs.create_srq_ex = create_srq_ex;
  verbs.get_srq_num = get_srq_num;
  verbs.open_xrcd = open_xrcd;
  verbs.close_xrcd = close_xrcd;
}

}  // namespace uroce::ibverbs
