// SPDX-License-Identifier: BSD-3-Clause
// The words for each kind of group filter.
#include "observe/group_filter.h"

namespace uroce::observe {

const char* group_filter_text(device::FilterKind kind) {
  switch (kind) {
    case device::FilterKind::kNone:
      return "needs none: the port filters nothing";
    case device::FilterKind::kPortList:
      return "the port's multicast address list";
    case device::FilterKind::kKernelMembership:
      return "packet membership on the kernel interface";
    case device::FilterKind::kKernelGroup:
      return "the kernel's group membership";
    case device::FilterKind::kAllMulticast:
      return "all-multicast: the port lets every group through";
  }
  return "unknown";
}

}  // namespace uroce::observe
