// SPDX-License-Identifier: BSD-3-Clause
// Posting, polling and notification, by all three routes that programs take: the table of a
// context, the function pointers of an extended queue pair, and those of an extended CQ.
#ifndef UROCE_IBVERBS_DATA_PATH_H
#define UROCE_IBVERBS_DATA_PATH_H

#include <algorithm>
#include <cstdint>

#include "ibverbs/handles.h"
#include "transport/qp_attributes.h"

namespace uroce::ibverbs {

// For a context's table; arguments and results as rdma-core's manual pages have them. Polling an
// empty CQ runs a turn of the engines first, if nobody else is at it.
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr);
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* mw_bind);
int poll_cq(ibv_cq* cq, int num_entries, ibv_wc* wc);
int req_notify_cq(ibv_cq* cq, int solicited_only);

// The bytes of an atomic whose buffers hold so many: they may have more room than a word, as with
// the adapters of others.
inline uint64_t atomic_length(uint64_t bytes) { return std::min(bytes, uint64_t{8}); }

// Sets the readers of a CQ made with these flags, before anybody sees it.
void install_readers(Cq& cq, uint64_t wc_flags);

// Whether queue pairs of a type have all of these operations (ibv_qp_create_send_ops_flags).
bool can_build(transport::QpType type, uint64_t send_ops_flags);
// Sets the builders of a queue pair, before anybody sees it. A builder that was not asked for is an
// error that ibv_wr_complete() returns.
void install_builders(Qp& qp, uint64_t send_ops_flags);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_DATA_PATH_H
