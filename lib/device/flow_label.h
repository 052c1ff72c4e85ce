// SPDX-License-Identifier: BSD-3-Clause
// The UDP source port of a flow, from its IPv6 flow label or its pair of QPNs: the entropy that
// switches spread flows by. The same in both directions of a connection.
//
// A label's 20 bits are folded to 14 (its high 6 bits xored into the low ones) above 0xC000. A
// pair of QPNs gives a label by folding their product, which does not depend on the order.
#ifndef UROCE_DEVICE_FLOW_LABEL_H
#define UROCE_DEVICE_FLOW_LABEL_H

#include <cstdint>

namespace uroce::device {

constexpr uint16_t udp_source_port_of_label(uint32_t label) {
  return static_cast<uint16_t>(((label & 0x3FFF) ^ ((label & 0xFC000) >> 14)) | 0xC000);
}

// 20 bits; 0 when one of the QPNs is.
constexpr uint32_t flow_label_of_qpns(uint32_t local, uint32_t remote) {
  uint64_t folded = uint64_t{local} * remote;
  folded ^= folded >> 20;
  folded ^= folded >> 40;
  return static_cast<uint32_t>(folded & 0xFFFFF);
}

// A label that is not 0 decides, also when its low 20 bits are 0.
constexpr uint16_t udp_source_port(uint32_t label, uint32_t local_qpn, uint32_t remote_qpn) {
  return udp_source_port_of_label(label != 0 ? label : flow_label_of_qpns(local_qpn, remote_qpn));
}

}  // namespace uroce::device

#endif  // UROCE_DEVICE_FLOW_LABEL_H
