// SPDX-License-Identifier: BSD-3-Clause
// Which RoCE an entry of the GID table is of, for ibv_devinfo.
#include <cerrno>

#include "ibverbs/undeclared.h"

int ibv_query_gid_type(ibv_context* context, uint8_t port_num, unsigned int index,
                       ibv_gid_type_sysfs* type) {
  ibv_gid_entry entry{};
  const int error = _ibv_query_gid_ex(context, port_num, index, &entry, 0, sizeof entry);
  if (error != 0 && error != ENODATA) {
    errno = error;
    return -1;
  }
  // An empty entry reads as the oldest type, as it does in the kernel's files.
  const bool v2 = error == 0 && entry.gid_type == IBV_GID_TYPE_ROCE_V2;
  *type = v2 ? IBV_GID_TYPE_SYSFS_ROCE_V2 : IBV_GID_TYPE_SYSFS_IB_ROCE_V1;
  return 0;
}
