// SPDX-License-Identifier: BSD-3-Clause
// The group MAC addresses that the addresses of an own port need.
#include "device/address_macs.h"

#include "group/mgid.h"
#include "wire/nd.h"

namespace uroce::device {

std::set<MacAddress> macs_of_addresses(std::span<const engine::LocalAddress> addresses) {
  constexpr Gid kAllNodes{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  const Gid all_systems = Gid::from_ipv4(0xE0000001);
  std::set<MacAddress> macs;
  for (const engine::LocalAddress& local : addresses) {
    if (local.address.is_ipv4()) {
      macs.insert(group::mac_of(all_systems));
    } else {
      macs.insert(group::mac_of(kAllNodes));
      macs.insert(group::mac_of(wire::solicited_node(local.address)));
    }
  }
  return macs;
}

}  // namespace uroce::device
