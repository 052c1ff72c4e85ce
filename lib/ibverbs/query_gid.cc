// SPDX-License-Identifier: BSD-3-Clause
// The GID table: of a running device as it is, else the one that the configured addresses make.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device/device.h"
#include "device/gid_table.h"
#include "ibverbs/handles.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {
namespace {

// A look at the table: of all entries at one time while the device does not run.
class GidView {
 public:
  explicit GidView(ibv_context* context)
      : device_(runtime().running(of(context).index)),
        description_(runtime().describe(of(context).index)),
        configured_(description_.limits.gid_table_length) {
    configured_.update(description_.port.mac, description_.addresses);
  }

  uint32_t length() const { return configured_.length(); }
  // 0, -EINVAL: outside the table, -ENODATA: empty.
  int query(int64_t index, ibv_gid_entry& entry) const {
    Gid gid;
    const int error =
        device_ != nullptr ? device_->query_gid(index, gid) : configured_.query(index, gid);
    if (error != 0) return error;
    from_gid(gid, entry.gid);
    entry.gid_index = static_cast<uint32_t>(index);
    entry.port_num = 1;
    entry.gid_type = IBV_GID_TYPE_ROCE_V2;
    entry.ndev_ifindex = static_cast<uint32_t>(description_.port.kernel_if_index);
    return 0;
  }

 private:
  device::Device* const device_;
  const DeviceDescription description_;
  device::GidTable configured_;
};

// The caller's structure may be an older or a younger one.
void give(const ibv_gid_entry& entry, void* to, size_t size) {
  std::memset(to, 0, size);
  std::memcpy(to, &entry, std::min(size, sizeof entry));
}

}  // namespace
}  // namespace uroce::ibverbs

using namespace uroce;
using namespace uroce::ibverbs;

int _ibv_query_gid_ex(ibv_context* context, uint32_t port_num, uint32_t gid_index,
                      ibv_gid_entry* entry, uint32_t flags, size_t entry_size) {
  if (flags != 0 || port_num != 1 || entry_size < sizeof entry->gid) return EINVAL;
  ibv_gid_entry found{};
  const int error = GidView(context).query(gid_index, found);
  if (error == 0) give(found, entry, entry_size);
  return positive(error);
}

// An empty entry reads as zeros, as it does in the kernel's files.
int ibv_query_gid(ibv_context* context, uint8_t port_num, int index, ibv_gid* gid) {
  ibv_gid_entry found{};
  const int error = port_num != 1 ? -EINVAL : GidView(context).query(index, found);
  if (error != 0 && error != -ENODATA) {
    errno = positive(error);
    return -1;
  }
  *gid = found.gid;
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, size_t max_entries,
                             uint32_t flags, size_t entry_size) {
  if (flags != 0 || entry_size < sizeof entries->gid) return -EINVAL;
  const GidView table(context);
  auto* to = reinterpret_cast<uint8_t*>(entries);
  size_t count = 0;
  for (uint32_t index = 0; index < table.length(); ++index) {
    ibv_gid_entry found{};
    if (table.query(index, found) != 0) continue;
    if (count == max_entries) return -EINVAL;
    give(found, to + count++ * entry_size, entry_size);
  }
  return static_cast<ssize_t>(count);
}
