// SPDX-License-Identifier: BSD-3-Clause
// What libibverbs.so.1 exports and librdmacm, libmlx5 or ibv_devinfo call, but no header that the
// distribution ships declares.
#ifndef UROCE_IBVERBS_UNDECLARED_H
#define UROCE_IBVERBS_UNDECLARED_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

#include <cstddef>

extern "C" {

// marshal.cc. Fields that `src` does not have are left as they are.
void ibv_copy_ah_attr_from_kern(ibv_ah_attr* dst, const ib_uverbs_ah_attr* src);
void ibv_copy_qp_attr_from_kern(ibv_qp_attr* dst, const ib_uverbs_qp_attr* src);
void ibv_copy_path_rec_from_kern(ibv_sa_path_rec* dst, const ib_user_path_rec* src);
void ibv_copy_path_rec_to_kern(ib_user_path_rec* dst, const ibv_sa_path_rec* src);

// sysfs.cc. The path has no slash at its end and lives as long as the process.
const char* ibv_get_sysfs_path(void);
// The file's text without its last newline, ended by 0; its length. -1 and errno: it cannot be
// read, or (ENOBUFS) has no room.
int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size);

// gid_type.cc. 0, or -1 and errno: no such entry. The numbers are those of the call, not of
// ibv_gid_type.
enum ibv_gid_type_sysfs { IBV_GID_TYPE_SYSFS_IB_ROCE_V1 = 0, IBV_GID_TYPE_SYSFS_ROCE_V2 = 1 };
int ibv_query_gid_type(ibv_context* context, uint8_t port_num, unsigned int index,
                       ibv_gid_type_sysfs* type);

// fork_init.cc. 0: nothing has to be done.
int ibv_dontfork_range(void* base, size_t size);
int ibv_dofork_range(void* base, size_t size);

}  // extern "C"

#endif  // UROCE_IBVERBS_UNDECLARED_H
