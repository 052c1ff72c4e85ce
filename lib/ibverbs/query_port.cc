// SPDX-License-Identifier: BSD-3-Clause
// The port of a device, and its partition keys: of a running device as they are, else what the
// configuration says.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "device/device.h"
#include "device/link_rate.h"
#include "device/port_mtu.h"
#include "ibverbs/operations.h"
#include "ibverbs/runtime.h"

#undef ibv_query_port

namespace uroce::ibverbs {
namespace {

constexpr __be16 kDefaultPkey = 0xFFFF;  // IBA 10.9.1.2, and the same in either byte order
constexpr uint8_t kLinkUp = 5;           // IBA 14.2.5.6: PortPhysicalState
constexpr uint8_t kDisabled = 3;
// Up to here the structure is that of programs from before extended port capabilities.
constexpr size_t kShortAttributes = offsetof(ibv_port_attr, port_cap_flags2);

device::PortState state_of(const ibv_context* context) {
  const uint32_t index = of(const_cast<ibv_context*>(context)).index;
  if (device::Device* const device = runtime().running(index)) return device->port_state();
  device::PortState state;
  state.info = runtime().describe(index).port;
  state.active_mtu = device::path_mtu_for_frame(state.info.frame_bytes_max).value_or(PathMtu::k256);
  return state;
}

uint32_t saturated(uint64_t count) {
  return static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
}

ibv_port_attr attributes_of(const device::PortState& port, uint32_t gid_table_length) {
  ibv_port_attr attr{};
  // Two programs that are started together look at their ports before they meet, and refuse one
  // that is down for good.
  const bool up = port.info.link_up || port.info.awaits_peer;
  attr.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attr.phys_state = up ? kLinkUp : kDisabled;
  attr.max_mtu = IBV_MTU_4096;
  attr.active_mtu = static_cast<ibv_mtu>(port.active_mtu);
  attr.gid_tbl_len = static_cast<int>(gid_table_length);
  attr.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
  attr.max_msg_sz = device::kMessageBytesMax;
  attr.bad_pkey_cntr = saturated(port.pkey_violations);
  attr.qkey_viol_cntr = saturated(port.qkey_violations);
  attr.pkey_tbl_len = 1;
  attr.max_vl_num = 1;
  const device::LinkRate rate = device::link_rate(port.info.link_mbps);
  attr.active_width = rate.width;
  attr.active_speed = static_cast<uint8_t>(rate.speed);
  attr.link_layer = IBV_LINK_LAYER_ETHERNET;
  attr.flags = IBV_QPF_GRH_REQUIRED;
  return attr;
}

}  // namespace

int query_port(ibv_context* context, uint8_t port_num, ibv_port_attr* port_attr,
               size_t port_attr_len) {
  if (port_num != 1) return EINVAL;
  const ibv_port_attr attr = attributes_of(
      state_of(context), runtime().describe(of(context).index).limits.gid_table_length);
  std::memset(port_attr, 0, port_attr_len);
  std::memcpy(port_attr, &attr, std::min(port_attr_len, sizeof attr));
  return 0;
}

}  // namespace uroce::ibverbs

using namespace uroce::ibverbs;

int ibv_query_port(ibv_context* context, uint8_t port_num, _compat_ibv_port_attr* port_attr) {
  return query_port(context, port_num, reinterpret_cast<ibv_port_attr*>(port_attr),
                    kShortAttributes);
}

int ibv_query_pkey(ibv_context* /*context*/, uint8_t port_num, int index, __be16* pkey) {
  if (port_num != 1 || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *pkey = kDefaultPkey;
  return 0;
}

int ibv_get_pkey_index(ibv_context* /*context*/, uint8_t port_num, __be16 pkey) {
  if (port_num == 1 && pkey == kDefaultPkey) return 0;
  errno = EINVAL;
  return -1;
}
