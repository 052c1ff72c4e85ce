// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the pointer that applications hold.
#ifndef UROCE_START_ENTRY_H
#define UROCE_START_ENTRY_H

#include <memory>

#include "start/context.h"

struct uroce_context {
  std::unique_ptr<uroce::start::Context> context;
};

#endif  // UROCE_START_ENTRY_H
