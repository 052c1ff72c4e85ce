// SPDX-License-Identifier: BSD-3-Clause
// Memory windows of the device: their keys and their end. Binding is the engines'
// (memory/window.h).
#include <cerrno>
#include <memory>
#include <mutex>

#include "device/device.h"

namespace uroce::device {

int Device::allocate_window(Pd& pd, memory::KeyKind kind, Mw*& mw) {
  const std::lock_guard guard(lock_);
  if (closing_) return -ENODEV;
  auto created = std::make_unique<Mw>();
  created->pd = &pd;
  if (const int error = open(pd, kind, created->key); error != 0) return error;
  mw = created.get();
  mws_.emplace(mw, std::move(created));
  return 0;
}

int Device::deallocate_window(Mw& mw) {
  const std::lock_guard guard(lock_);
  if (const int error = retire(mw.key, mw.retired); error != 0) return error;
  --mw.pd->use_count;
  mws_.erase(&mw);
  return 0;
}

}  // namespace uroce::device
