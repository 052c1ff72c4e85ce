// SPDX-License-Identifier: BSD-3-Clause
// The MAC address of a destination, for drivers that make frames by themselves: found as for an
// address handle, by making one.
#include <algorithm>
#include <cerrno>

#include "ibverbs/handles.h"
#include "ibverbs/paths.h"
#include "ibverbs/runtime.h"

using namespace uroce;
using namespace uroce::ibverbs;

namespace {

constexpr uint16_t kNoVlan = 0xFFFF;

int find_path(device::Device& device, const device::AhAttributes& wanted,
              device::AhAttributes& found) {
  device::Pd* pd = nullptr;
  if (const int error = device.create_pd(pd); error != 0) return error;
  device::Ah* ah = nullptr;
  const int error = device.create_ah(*pd, wanted, true, ah);
  if (error == 0) {
    found = device.query_ah(*ah);
    device.destroy_ah(*ah);
  }
  device.destroy_pd(*pd);
  return error;
}

}  // namespace

int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr,
                                uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t* vid) {
  device::Device* device = nullptr;
  device::AhAttributes path;
  if (const int error = runtime().start(of(context).index, device); error != 0) {
    return positive(error);
  }
  if (const int error = find_path(*device, to_path(*attr), path); error != 0) {
    return positive(error);
  }
  std::copy(path.dmac.bytes.begin(), path.dmac.bytes.end(), eth_mac);
  const uint16_t own_vlan = device->port_state().info.vlan_id;
  *vid = own_vlan != 0 ? own_vlan : kNoVlan;
  return 0;
}
