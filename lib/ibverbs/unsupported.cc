// SPDX-License-Identifier: BSD-3-Clause
// What a device in this process cannot have: objects of the kernel to share with other processes,
// memory of other devices, options of a vendor. Always EOPNOTSUPP: programs skip on that alone.
#include <infiniband/verbs.h>

#include <cerrno>

namespace {

template <typename Object>
Object* unsupported() {
  errno = EOPNOTSUPP;
  return nullptr;
}

}  // namespace

ibv_context* ibv_import_device(int /*cmd_fd*/) { return unsupported<ibv_context>(); }

ibv_pd* ibv_import_pd(ibv_context* /*context*/, uint32_t /*pd_handle*/) {
  return unsupported<ibv_pd>();
}

ibv_mr* ibv_import_mr(ibv_pd* /*pd*/, uint32_t /*mr_handle*/) { return unsupported<ibv_mr>(); }

ibv_dm* ibv_import_dm(ibv_context* /*context*/, uint32_t /*dm_handle*/) {
  return unsupported<ibv_dm>();
}

// Nothing was imported, so nothing is given back.
void ibv_unimport_pd(ibv_pd* /*pd*/) {}
void ibv_unimport_mr(ibv_mr* /*mr*/) {}
void ibv_unimport_dm(ibv_dm* /*dm*/) {}

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* /*pd*/, uint64_t /*offset*/, size_t /*length*/, uint64_t /*iova*/,
                          int /*fd*/, int /*access*/) {
  return unsupported<ibv_mr>();
}

int ibv_set_ece(ibv_qp* /*qp*/, ibv_ece* /*ece*/) { return EOPNOTSUPP; }

int ibv_query_ece(ibv_qp* /*qp*/, ibv_ece* /*ece*/) { return EOPNOTSUPP; }

// No guarantee: a message's bytes are copied by whatever instructions are fastest.
int ibv_query_qp_data_in_order(ibv_qp* /*qp*/, ibv_wr_opcode /*op*/, uint32_t /*flags*/) {
  return 0;
}
