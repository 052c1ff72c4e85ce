// SPDX-License-Identifier: BSD-3-Clause
// Between ibv_ah_attr and what the device calls a path.
#include "ibverbs/paths.h"

namespace uroce::ibverbs {

device::AhAttributes to_path(const ibv_ah_attr& attr) {
  return {.dgid = to_gid(attr.grh.dgid),
          .sgid_index = attr.grh.sgid_index,
          .flow_label = attr.grh.flow_label,
          .hop_limit = attr.grh.hop_limit,
          .traffic_class = attr.grh.traffic_class,
          // A datagram's completion says more in its service level, and programs pass it on.
          .sl = static_cast<uint8_t>(attr.sl & 7),
          .static_rate = attr.static_rate,
          .port = attr.port_num,
          .global = attr.is_global != 0,
          .dmac = {}};
}

ibv_ah_attr from_path(const device::AhAttributes& path) {
  ibv_ah_attr attr{};
  from_gid(path.dgid, attr.grh.dgid);
  attr.grh.flow_label = path.flow_label;
  attr.grh.sgid_index = static_cast<uint8_t>(path.sgid_index);
  attr.grh.hop_limit = path.hop_limit;
  attr.grh.traffic_class = path.traffic_class;
  attr.sl = path.sl;
  attr.static_rate = path.static_rate;
  attr.is_global = path.global ? 1 : 0;
  attr.port_num = static_cast<uint8_t>(path.port);
  return attr;
}

}  // namespace uroce::ibverbs
