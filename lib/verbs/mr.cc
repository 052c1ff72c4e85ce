// SPDX-License-Identifier: BSD-3-Clause
// Memory regions of the native face.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
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
uint32_t contiguous(const scatterlist* sg, uint32_t count, __u64& bytes) {
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

MappedPieces verbs::map_pieces(const scatterlist* sg, int count, const unsigned int* offset) {
  const __u64 skipped = offset != nullptr ? *offset : 0;
  if (count < 1 || skipped >= sg[0].length) return {.count = -EINVAL};
  MappedPieces mapped;
  const uint32_t pieces = contiguous(sg, static_cast<uint32_t>(count), mapped.bytes);
  if (pieces == 0) return {.count = -EINVAL};
  mapped.start = sg[0].dma_address + skipped;
  mapped.bytes -= skipped;
  // What it may be used for is known only when it is registered.
  mapped.writable = uroce::device::probe_memory(mapped.start, mapped.bytes, true) == 0;
  if (!mapped.writable && uroce::device::probe_memory(mapped.start, mapped.bytes, false) != 0) {
    return {.count = -EFAULT};
  }
  mapped.count = static_cast<int>(pieces);
  return mapped;
}

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
  mr->registered = RegisteredMemory::instance().hold(pd->device, start, length);
  of(pd->device).objects.keep(mr);
  return mr;
}

int ib_rereg_user_mr(ib_mr* mr, int flags, __u64 start, __u64 length, __u64 virt_addr,
                     int mr_access_flags, ib_pd* pd) {
  constexpr int kAll = IB_MR_REREG_TRANS | IB_MR_REREG_PD | IB_MR_REREG_ACCESS;
  if (flags == 0 || (flags & ~kAll) != 0) return -EINVAL;
  const bool moves = (flags & IB_MR_REREG_PD) != 0;
  if (moves && (pd == nullptr || pd->device != mr->device)) return -EINVAL;
  const uroce::device::MemoryChange change{.translation = (flags & IB_MR_REREG_TRANS) != 0,
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
  if (change.translation) {
    of(mr).registered = RegisteredMemory::instance().hold(mr->device, start, length);
  }
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
  if (region.pieces_max == 0 || !std::has_single_bit(page_size)) return -EINVAL;
  const int most = static_cast<int>(std::min<__u32>(region.pieces_max, INT_MAX));
  const MappedPieces mapped = map_pieces(sg, std::min(sg_nents, most), sg_offset);
  if (mapped.count < 0) return mapped.count;
  region.mapped = reinterpret_cast<__u8*>(mapped.start);
  region.writable = mapped.writable;
  mr->iova = mapped.start;
  mr->length = mapped.bytes;
  return mapped.count;
}

int ib_dereg_mr(ib_mr* mr) { return ib_dereg_mr_user(mr, nullptr); }

int ib_dereg_mr_user(ib_mr* mr, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return -EINVAL;
  const int error = device_of(*mr->pd).deregister_memory(*of(mr).object);
  if (error == 0) of(mr->device).objects.give_up(&of(mr));
  return error;
}
