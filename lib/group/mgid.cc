// SPDX-License-Identifier: BSD-3-Clause
// The MAC address of a group.
#include "group/mgid.h"

#include "base/assert.h"
#include "wire/ip.h"

namespace uroce::group {

MacAddress mac_of(const Gid& mgid) {
  UROCE_DEBUG_ASSERT(is_valid_mgid(mgid));
  return wire::multicast_mac(mgid);
}

}  // namespace uroce::group
