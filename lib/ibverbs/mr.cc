// SPDX-License-Identifier: BSD-3-Clause
// Memory regions. L_Key and R_Key are one number, and stay the same when a region is registered
// anew.
#include <cerrno>

#include "ibverbs/object_making.h"
#include "ibverbs/operations.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace uroce::ibverbs {
namespace {

ibv_mr* register_region(ibv_pd* pd, void* addr, size_t length, uint64_t iova, unsigned access) {
  const auto start = reinterpret_cast<uint64_t>(addr);
  return make_in<Mr>(pd, [&](device::Device& device, device::Pd& domain, Mr& mr) {
    const int error = device.register_memory(domain, start, length, iova, access, mr.object);
    if (error != 0) return error;
    mr.addr = addr;
    mr.length = length;
    mr.lkey = mr.rkey = mr.object->key.value();
    mr.handle = mr.object->key.index();
    return 0;
  });
}

// 0, or -EINVAL: a change that makes no sense.
int check_change(const Mr& mr, int flags, const ibv_pd* pd, const void* addr, size_t length,
                 int access) {
  const auto has = [flags](int flag) { return (flags & flag) != 0; };
  const bool bad = mr.dm != nullptr || flags == 0 || has(~IBV_REREG_MR_FLAGS_SUPPORTED) ||
                   (has(IBV_REREG_MR_CHANGE_TRANSLATION) && (addr == nullptr || length == 0)) ||
                   (has(IBV_REREG_MR_CHANGE_PD) && (pd == nullptr || pd->context != mr.context)) ||
                   (access != 0 && !has(IBV_REREG_MR_CHANGE_ACCESS));
  return bad ? -EINVAL : 0;
}

// What the handle says of it afterwards.
void take_over(Mr& mr, const device::MemoryChange& change, ibv_pd* pd) {
  if (change.translation) {
    mr.addr = reinterpret_cast<void*>(change.start);
    mr.length = change.length;
  }
  if (change.pd == nullptr) return;
  --of(mr.pd).uses;
  ++of(pd).uses;
  mr.pd = pd;
}

}  // namespace

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, uint32_t flags, ibv_sge* sg_list,
              uint32_t num_sge) {
  if ((flags & ~uint32_t{IBV_ADVISE_MR_FLAG_FLUSH}) != 0 || num_sge == 0) return EINVAL;
  device::Prefetch what{};
  switch (advice) {
    case IBV_ADVISE_MR_ADVICE_PREFETCH:
      what = device::Prefetch::kRead;
      break;
    case IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE:
      what = device::Prefetch::kWrite;
      break;
    case IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
      what = device::Prefetch::kNothing;
      break;
    default:
      return EOPNOTSUPP;
  }
  device::Device* device = nullptr;
  if (const int error = reach_device(pd->context, device); error != 0) return positive(error);
  for (uint32_t i = 0; i < num_sge; ++i) {
    const memory::Sge piece{sg_list[i].addr, sg_list[i].length, sg_list[i].lkey};
    if (const int error = device->prefetch_memory(*of(pd).object, piece, what); error != 0) {
      return positive(error);
    }
  }
  return 0;
}

}  // namespace uroce::ibverbs

using namespace uroce;
using namespace uroce::ibverbs;

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, size_t length, int access) {
  return register_region(pd, addr, length, reinterpret_cast<uint64_t>(addr),
                         static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, size_t length, uint64_t iova, int access) {
  return register_region(pd, addr, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, size_t length, uint64_t iova,
                         unsigned int access) {
  return register_region(pd, addr, length, iova, access);
}

// An error of ours leaves the registration before in force, which is what ERR_INPUT says.
int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* addr, size_t length, int access) {
  const device::MemoryChange change{
      .translation = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0,
      .start = reinterpret_cast<uint64_t>(addr),
      .length = length,
      .iova = reinterpret_cast<uint64_t>(addr),
      .rights = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0,
      .access = static_cast<uint32_t>(access),
      .pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0 && pd != nullptr ? of(pd).object : nullptr};
  int error = check_change(of(mr), flags, pd, addr, length, access);
  device::Device* device = nullptr;
  if (error == 0) error = reach_device(mr->context, device);
  if (error == 0) error = device->reregister_memory(*of(mr).object, change);
  if (error != 0) {
    errno = positive(error);
    return IBV_REREG_MR_ERR_INPUT;
  }
  take_over(of(mr), change, pd);
  return 0;
}

int ibv_dereg_mr(ibv_mr* mr) {
  Dm* const dm = of(mr).dm;
  const int error = end_in(
      of(mr), [mr](device::Device& device) { return device.deregister_memory(*of(mr).object); });
  if (error == 0 && dm != nullptr) --dm->uses;
  return error;
}
