// SPDX-License-Identifier: BSD-3-Clause
// Memory regions of the native face.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "device/memory_probe.h"
#include "verbs/driver.h"
#include "verbs/handles.h"

using namespace uroce;
using namespace uroce::verbs;

namespace {

constexpr int kRemote = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
                        IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT;

// The fields of the C structure, from the region as the device has it.
void show(Mr& mr) {
  const memory::Region& region = mr.object->region;
  mr.lkey = mr.object->key.value();
  mr.rkey = (region.access & kRemote) != 0 ? mr.lkey : 0;
  mr.iova = region.iova;
  mr.length = region.length;
}

// How many of the pieces continue one another, and how long they are together.
uint32_t contiguous(const scatterlist* sg, uint32_t count, uint64_t& bytes) {
  uint32_t pieces = 0;
  bytes = 0;
  while (pieces < count) {
    const scatterlist& piece = sg[pieces];
    if (piece.length > UINT64_MAX - piece.dma_address) break;
    if (pieces != 0 && piece.dma_address != sg[0].dma_address + bytes) break;
    bytes += piece.length;
    ++pieces;
  }
  return pieces;
}

}  // namespace

ib_mr* ib_reg_user_mr(ib_pd* pd, __u64 start, __u64 length, __u64 virt_addr, int mr_access_flags) {
  auto* mr = new (std::nothrow) Mr{};
  if (mr == nullptr) return error_pointer<ib_mr>(-ENOMEM);
  const int error = device_of(*pd).register_memory(*of(pd).object, start, length, virt_addr,
                                                   static_cast<__u32>(mr_access_flags), mr->object);
  if (error != 0) {
    delete mr;
    return error_pointer<ib_mr>(error);
  }
  mr->device = pd->device;
  mr->pd = pd;
  mr->type = IB_MR_TYPE_USER;
  show(*mr);
  of(pd->device).objects.keep(mr);
  return mr;
}

int ib_rereg_user_mr(ib_mr* mr, int flags, __u64 start, __u64 length, __u64 virt_addr,
                     int mr_access_flags, ib_pd* pd) {
  constexpr int kAll = IB_MR_REREG_TRANS | IB_MR_REREG_PD | IB_MR_REREG_ACCESS;
  if (flags == 0 || (flags & ~kAll) != 0) return -EINVAL;
  const bool moves = (flags & IB_MR_REREG_PD) != 0;
  if (moves && (pd == nullptr || pd->device != mr->device)) return -EINVAL;
  const device::MemoryChange change{.translation = (flags & IB_MR_REREG_TRANS) != 0,
                                    .start = start,
                                    .length = length,
                                    .iova = virt_addr,
                                    .rights = (flags & IB_MR_REREG_ACCESS) != 0,
                                    .access = static_cast<__u32>(mr_access_flags),
                                    .pd = moves ? of(pd).object : nullptr};
  const int error = device_of(*mr->pd).reregister_memory(*of(mr).object, change);
  if (error != 0) return error;
  if (moves) mr->pd = pd;
  show(of(mr));
  return 0;
}

ib_mr* driver::alloc_mr(ib_pd* pd, ib_mr_type mr_type, __u32 max_num_sg) {
  if (mr_type != IB_MR_TYPE_MEM_REG || max_num_sg == 0 ||
      max_num_sg > pd->device->attrs.max_fast_reg_page_list_len) {
    return error_pointer<ib_mr>(-EINVAL);
  }
  auto* mr = new (std::nothrow) Mr{};
  if (mr == nullptr) return error_pointer<ib_mr>(-ENOMEM);
  const int error = device_of(*pd).allocate_memory(*of(pd).object, mr->object);
  if (error != 0) {
    delete mr;
    return error_pointer<ib_mr>(error);
  }
  mr->device = pd->device;
  mr->pd = pd;
  mr->lkey = mr->rkey = mr->object->key.value();
  mr->type = IB_MR_TYPE_MEM_REG;
  mr->pieces_max = max_num_sg;
  of(pd->device).objects.keep(mr);
  return mr;
}

int ib_map_mr_sg(ib_mr* mr, scatterlist* sg, int sg_nents, unsigned int* sg_offset,
                 unsigned int page_size) {
  Mr& region = of(mr);
  const __u64 offset = sg_offset != nullptr ? *sg_offset : 0;
  if (region.pieces_max == 0 || sg_nents < 1 || offset >= sg[0].length) return -EINVAL;
  if (!std::has_single_bit(page_size)) return -EINVAL;
  const __u32 count = std::min(static_cast<__u32>(sg_nents), region.pieces_max);
  uint64_t bytes = 0;
  const uint32_t pieces = contiguous(sg, count, bytes);
  if (pieces == 0) return -EINVAL;
  const __u64 start = sg[0].dma_address + offset;
  bytes -= offset;
  // What it may be used for is known only when it is registered.
  const bool writable = device::probe_memory(start, bytes, true) == 0;
  if (!writable && device::probe_memory(start, bytes, false) != 0) return -EFAULT;
  region.mapped = reinterpret_cast<__u8*>(start);
  region.writable = writable;
  mr->iova = start;
  mr->length = bytes;
  return static_cast<int>(pieces);
}

int ib_dereg_mr(ib_mr* mr) { return ib_dereg_mr_user(mr, nullptr); }

int ib_dereg_mr_user(ib_mr* mr, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return -EINVAL;
  const int error = device_of(*mr->pd).deregister_memory(*of(mr).object);
  if (error == 0) of(mr->device).objects.give_up(&of(mr));
  return error;
}
