// SPDX-License-Identifier: BSD-3-Clause
// Local identifiers of 32 bits as those of 16.
#include <arpa/inet.h>
#include <uroce/ib_port.h>

#include <atomic>

#include "base/log.h"

__u16 ib_lid_cpu16(__u32 lid) {
  static std::atomic_flag told;
  if (lid > 0xFFFF && !told.test_and_set(std::memory_order_relaxed)) {
    uroce::log(uroce::LogLevel::kWarning,
               "a LID above 0xffff loses its upper bits: give one of 16 bits");
  }
  return static_cast<__u16>(lid);
}

__be16 ib_lid_be16(__u32 lid) { return htons(ib_lid_cpu16(lid)); }
