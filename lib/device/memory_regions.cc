// SPDX-License-Identifier: BSD-3-Clause
// Protection domains and memory regions of the device: checks, keys, grace periods.
#include <cerrno>
#include <memory>

#include "device/device.h"
#include "device/memory_probe.h"

namespace uroce::device {
namespace {

constexpr uint32_t kOnDemand = 1u << 6;
constexpr uint32_t kHugePages = 1u << 7;  // about how memory is pinned: nothing to do with it here
constexpr uint32_t kOptional = 0x3FF00000;
constexpr uint32_t kRights = memory::kLocalWrite | memory::kRemoteWrite | memory::kRemoteRead |
                             memory::kRemoteAtomic | memory::kMwBind | memory::kZeroBased |
                             memory::kFlushGlobal | memory::kFlushPersistent;

// IBA 11.2.8.2: a right to write from afar needs the right to write here.
int check_access(uint32_t access) {
  if ((access & (memory::kRemoteWrite | memory::kRemoteAtomic)) != 0 &&
      (access & memory::kLocalWrite) == 0) {
    return -EINVAL;
  }
  if ((access & ~(kRights | kOnDemand | kHugePages | kOptional)) != 0) {
    return -EINVAL;
  }
  return (access & kOnDemand) != 0 ? -EOPNOTSUPP : 0;
}

}  // namespace

int Device::publish(Pd& pd, const memory::Region& region, Key& key) {
  const std::optional<Key> taken = keys_.take();
  if (!taken) return -ENOMEM;
  key = *taken;
  shared_.keys->publish(key, region);
  ++pd.use_count;
  return 0;
}

int Device::create_pd(Pd*& pd) {
  const std::lock_guard guard(lock_);
  if (closing_) return -ENODEV;
  if (pds_.size() >= limits_.pd_max) return -ENOMEM;
  auto created = std::make_unique<Pd>();
  created->number = next_pd_;
  const memory::Region everything{.base = nullptr,
                                  .iova = 0,
                                  .length = UINT64_MAX,
                                  .pd = created->number,
                                  .access = memory::kLocalWrite};
  if (const int error = publish(*created, everything, created->dma_key); error != 0) return error;
  created->use_count = 0;  // its own key does not keep it
  ++next_pd_;
  pd = created.get();
  pds_.emplace(pd, std::move(created));
  return 0;
}

int Device::destroy_pd(Pd& pd) {
  const std::lock_guard guard(lock_);
  if (pd.use_count != 0) return -EBUSY;
  if (!pd.retired) {
    shared_.keys->unpublish(pd.dma_key);
    pd.retired = true;
  }
  if (const int error = caller_.wait_grace_period(); error != 0) return error;
  keys_.give(pd.dma_key);
  pds_.erase(&pd);
  return 0;
}

int Device::register_memory(Pd& pd, uint64_t start, uint64_t length, uint64_t iova, uint32_t access,
                            Mr*& mr) {
  if (length == 0 || length > UINT64_MAX - start || length > UINT64_MAX - iova) return -EINVAL;
  if (const int error = check_access(access); error != 0) return error;
  const bool writable = (access & memory::kLocalWrite) != 0;
  if (const int error = probe_memory(start, length, writable); error != 0) return error;

  const std::lock_guard guard(lock_);
  if (closing_) return -ENODEV;
  auto created = std::make_unique<Mr>();
  created->pd = &pd;
  created->region = {.base = reinterpret_cast<uint8_t*>(start),
                     .iova = iova,
                     .length = length,
                     .pd = pd.number,
                     .access = access & kRights};
  if (const int error = publish(pd, created->region, created->key); error != 0) return error;
  mr = created.get();
  mrs_.emplace(mr, std::move(created));
  return 0;
}

int Device::deregister_memory(Mr& mr) {
  const std::lock_guard guard(lock_);
  if (!mr.retired) {
    shared_.keys->unpublish(mr.key);
    mr.retired = true;
  }
  if (const int error = caller_.wait_grace_period(); error != 0) return error;
  keys_.give(mr.key);
  --mr.pd->use_count;
  mrs_.erase(&mr);
  return 0;
}

}  // namespace uroce::device
