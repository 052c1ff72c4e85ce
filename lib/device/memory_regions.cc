// SPDX-License-Identifier: BSD-3-Clause
// Protection domains and memory regions of the device: checks, keys, grace periods.
#include <cerrno>
#include <memory>

#include "device/device.h"
#include "device/memory_access.h"
#include "device/memory_probe.h"

namespace uroce::device {
namespace {

constexpr uint32_t kOnDemand = 1u << 6;   // pages come when they are used
constexpr uint32_t kHugePages = 1u << 7;  // about how memory is pinned: nothing to do with it here
constexpr uint32_t kOptional = 0x3FF00000;
constexpr uint32_t kRights = memory::kLocalWrite | memory::kRemoteWrite | memory::kRemoteRead |
                             memory::kRemoteAtomic | memory::kMwBind | memory::kZeroBased |
                             memory::kFlushGlobal | memory::kFlushPersistent;

// The region of a registration, except its domain. 0 or what is wrong with it.
int make_region(uint64_t start, uint64_t length, uint64_t iova, uint32_t access,
                memory::Region& region) {
  if ((access & memory::kZeroBased) != 0) iova = 0;
  if (length == 0 || length > UINT64_MAX - start || length > UINT64_MAX - iova) return -EINVAL;
  if (const int error = check_access(access); error != 0) return error;
  const bool writable = (access & memory::kLocalWrite) != 0;
  if ((access & kOnDemand) == 0) {
    if (const int error = probe_memory(start, length, writable); error != 0) return error;
  }
  region = {.base = reinterpret_cast<uint8_t*>(start),
            .iova = iova,
            .length = length,
            .access = rights_of(access)};
  return 0;
}

}  // namespace

// IBA 11.2.8.2: a right to write from afar needs the right to write here.
int check_access(uint32_t access) {
  if ((access & (memory::kRemoteWrite | memory::kRemoteAtomic)) != 0 &&
      (access & memory::kLocalWrite) == 0) {
    return -EINVAL;
  }
  return (access & ~(kRights | kOnDemand | kHugePages | kOptional)) != 0 ? -EINVAL : 0;
}

uint32_t rights_of(uint32_t access) { return access & kRights; }

int Device::publish(Pd& pd, const memory::Region& region, Key& key) {
  const std::optional<Key> taken = keys_.take();
  if (!taken) return -ENOMEM;
  key = *taken;
  shared_.keys->publish(key, region);
  ++pd.use_count;
  return 0;
}

int Device::open(Pd& pd, memory::KeyKind kind, Key& key) {
  const std::optional<Key> taken = keys_.take();
  if (!taken) return -ENOMEM;
  key = *taken;
  shared_.keys->open(key, kind, pd.number);
  ++pd.use_count;
  return 0;
}

// Ends a key's validity and waits until no engine uses what it stood for; `retired` says how far
// an earlier call has come. Then the key's index is free.
int Device::retire(Key key, bool& retired) {
  if (!retired && !shared_.keys->retire(key.index())) return -EINVAL;
  retired = true;
  if (const int error = caller_.wait_grace_period(); error != 0) return error;
  keys_.give(shared_.keys->close(key.index()));
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
  if (const int error = retire(pd.dma_key, pd.retired); error != 0) return error;
  pds_.erase(&pd);
  return 0;
}

int Device::register_memory(Pd& pd, uint64_t start, uint64_t length, uint64_t iova, uint32_t access,
                            Mr*& mr) {
  memory::Region region;
  if (const int error = make_region(start, length, iova, access, region); error != 0) return error;
  region.pd = pd.number;
  const std::lock_guard guard(lock_);
  if (closing_) return -ENODEV;
  auto created = std::make_unique<Mr>();
  created->pd = &pd;
  created->access = access;
  created->region = region;
  if (const int error = publish(pd, created->region, created->key); error != 0) return error;
  mr = created.get();
  mrs_.emplace(mr, std::move(created));
  return 0;
}

int Device::allocate_memory(Pd& pd, Mr*& mr) {
  const std::lock_guard guard(lock_);
  if (closing_) return -ENODEV;
  auto created = std::make_unique<Mr>();
  created->pd = &pd;
  created->fast = true;
  if (const int error = open(pd, memory::KeyKind::kFastRegion, created->key); error != 0) {
    return error;
  }
  mr = created.get();
  mrs_.emplace(mr, std::move(created));
  return 0;
}

int Device::reregister_memory(Mr& mr, const MemoryChange& change) {
  const std::lock_guard guard(lock_);
  if (mr.fast || mr.retired) return -EINVAL;
  const memory::Region& old = mr.region;
  const uint32_t access = change.rights ? change.access : mr.access;
  const auto start = change.translation ? change.start : reinterpret_cast<uint64_t>(old.base);
  uint64_t iova = change.translation ? change.iova : old.iova;
  // A region that was zero-based and is not any more goes by its own addresses.
  if (!change.translation && (old.access & memory::kZeroBased) != 0) iova = start;
  memory::Region region;
  const uint64_t length = change.translation ? change.length : old.length;
  if (const int error = make_region(start, length, iova, access, region); error != 0) return error;
  Pd& pd = change.pd != nullptr ? *change.pd : *mr.pd;
  region.pd = pd.number;
  if (!shared_.keys->retire(mr.key.index())) return -EINVAL;
  if (const int error = caller_.wait_grace_period(); error != 0) {
    shared_.keys->revive(mr.key);
    return error;
  }
  shared_.keys->close(mr.key.index());
  shared_.keys->publish(mr.key, region);
  mr.access = access;
  mr.region = region;
  --mr.pd->use_count;
  ++pd.use_count;
  mr.pd = &pd;
  return 0;
}

int Device::prefetch_memory(const Pd& pd, const memory::Sge& piece, Prefetch what) {
  const bool writable = what == Prefetch::kWrite;
  uint8_t* start = nullptr;
  {
    const std::lock_guard guard(lock_);
    switch (shared_.keys->translate(Key(piece.lkey), pd.number,
                                    writable ? uint32_t{memory::kLocalWrite} : 0, piece.address,
                                    piece.length, start)) {
      case memory::KeyVerdict::kGood:
        break;
      case memory::KeyVerdict::kUnknownKey:
        return -ENOENT;
      case memory::KeyVerdict::kWrongDomain:
      case memory::KeyVerdict::kNoAccess:
        return -EPERM;
      case memory::KeyVerdict::kOutOfRange:
        return -EFAULT;
    }
  }
  if (what == Prefetch::kNothing || piece.length == 0) return 0;
  return probe_memory(reinterpret_cast<uint64_t>(start), piece.length, writable);
}

int Device::deregister_memory(Mr& mr) {
  const std::lock_guard guard(lock_);
  if (const int error = retire(mr.key, mr.retired); error != 0) return error;
  --mr.pd->use_count;
  mrs_.erase(&mr);
  return 0;
}

}  // namespace uroce::device
