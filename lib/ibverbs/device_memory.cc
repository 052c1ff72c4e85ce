// SPDX-License-Identifier: BSD-3-Clause
// Memory "of the device" (ibv_alloc_dm): with the CPU for a device, a buffer like any other.
#include "ibverbs/device_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "ibverbs/object_making.h"
#include "ibverbs/operations.h"

namespace uroce::ibverbs {
namespace {

bool is_inside(const Dm& dm, uint64_t offset, size_t length) {
  return offset <= dm.length && length <= dm.length - offset;
}

// 0 or a positive errno.
int check_copy(const Dm& dm, uint64_t offset, size_t length) {
  if (offset % kDeviceMemoryUnit != 0 || length % kDeviceMemoryUnit != 0) return EINVAL;
  return is_inside(dm, offset, length) ? 0 : EINVAL;
}

int copy_to(ibv_dm* dm, uint64_t offset, const void* from, size_t length) {
  if (const int error = check_copy(of(dm), offset, length); error != 0) return error;
  std::memcpy(of(dm).bytes + offset, from, length);
  return 0;
}

int copy_from(void* to, ibv_dm* dm, uint64_t offset, size_t length) {
  if (const int error = check_copy(of(dm), offset, length); error != 0) return error;
  std::memcpy(to, of(dm).bytes + offset, length);
  return 0;
}

}  // namespace

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attr) {
  if (attr->comp_mask != 0 || attr->length == 0) return refuse<ibv_dm>(-EINVAL);
  if (attr->length > kDeviceMemoryBytesMax) return refuse<ibv_dm>(-ENOMEM);
  constexpr size_t kLeast = alignof(std::max_align_t);
  if (attr->log_align_req > 20) return refuse<ibv_dm>(-EINVAL);
  const size_t alignment = std::max(size_t{1} << attr->log_align_req, kLeast);
  const size_t rounded = (attr->length + alignment - 1) / alignment * alignment;
  auto* const dm = new (std::nothrow) Dm{};
  if (dm == nullptr) return refuse<ibv_dm>(-ENOMEM);
  dm->bytes = static_cast<uint8_t*>(std::aligned_alloc(alignment, rounded));
  if (dm->bytes == nullptr) {
    delete dm;
    return refuse<ibv_dm>(-ENOMEM);
  }
  std::memset(dm->bytes, 0, rounded);
  dm->context = context;
  dm->memcpy_to_dm = copy_to;
  dm->memcpy_from_dm = copy_from;
  dm->length = attr->length;
  return dm;
}

int free_dm(ibv_dm* dm) {
  if (of(dm).uses != 0) return EBUSY;
  std::free(of(dm).bytes);
  delete &of(dm);
  return 0;
}

ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, uint64_t dm_offset, size_t length, unsigned int access) {
  // It has no addresses of its own.
  if ((access & IBV_ACCESS_ZERO_BASED) == 0) return refuse<ibv_mr>(-EINVAL);
  if (!is_inside(of(dm), dm_offset, length)) return refuse<ibv_mr>(-EINVAL);
  const auto start = reinterpret_cast<uint64_t>(of(dm).bytes) + dm_offset;
  Mr* const made = make_in<Mr>(pd, [&](device::Device& device, device::Pd& domain, Mr& mr) {
    // Of no bytes at all: a key that opens nothing.
    const int error = length == 0
                          ? device.allocate_memory(domain, mr.object)
                          : device.register_memory(domain, start, length, 0, access, mr.object);
    if (error != 0) return error;
    mr.dm = &of(dm);
    mr.length = length;
    mr.lkey = mr.rkey = mr.object->key.value();
    mr.handle = mr.object->key.index();
    return 0;
  });
  if (made != nullptr) ++of(dm).uses;
  return made;
}

}  // namespace uroce::ibverbs
