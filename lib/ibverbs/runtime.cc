// SPDX-License-Identifier: BSD-3-Clause
// Where this face finds the runtime of its process.
#include "ibverbs/runtime.h"

#include <atomic>

#include "base/assert.h"

namespace uroce::ibverbs {
namespace {

std::atomic<Runtime*> installed{nullptr};

}  // namespace

Runtime& runtime() {
  Runtime* const found = installed.load(std::memory_order_acquire);
  UROCE_ASSERT(found != nullptr);
  return *found;
}

void install_runtime(Runtime* runtime) { installed.store(runtime, std::memory_order_release); }

}  // namespace uroce::ibverbs
