// SPDX-License-Identifier: BSD-3-Clause
// The verbs that programs call through the tables of an opened device, not by a symbol.
#ifndef UROCE_IBVERBS_OPERATIONS_H
#define UROCE_IBVERBS_OPERATIONS_H

#include <cstddef>
#include <cstdint>

#include "ibverbs/handles.h"

namespace uroce::ibverbs {

// Fills the tables: what is not in there stays nullptr, and rdma-core's inline calls answer
// EOPNOTSUPP for it.
void install_operations(verbs_context& verbs);

// Arguments and results of all of these: rdma-core's verbs.h and its manual pages.

// Devices. Structures are filled as far as the caller's version of them goes.
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attr, size_t attr_size);
int query_port(ibv_context* context, uint8_t port_num, ibv_port_attr* port_attr,
               size_t port_attr_len);
int query_rt_values(ibv_context* context, ibv_values_ex* values);

// Domains.
ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* init_attr);
int dealloc_td(ibv_td* td);
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr);

// Memory.
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, uint32_t flags, ibv_sge* sg_list,
              uint32_t num_sge);
ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attr);
int free_dm(ibv_dm* dm);
ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, uint64_t dm_offset, size_t length, unsigned int access);
ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type);
int dealloc_mw(ibv_mw* mw);

// Completion queues.
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* init_attr);
int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr);

// Queue pairs, shared receive queues and XRC domains.
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* init_attr);
ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr);
ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* init_attr);
int get_srq_num(ibv_srq* srq, uint32_t* srq_num);
ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* xrcd_init_attr);
int close_xrcd(ibv_xrcd* xrcd);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_OPERATIONS_H
