// SPDX-License-Identifier: BSD-3-Clause
// Templates of RoCEv2 headers, and the end of a frame.
#include "wire/emit.h"

#include "base/assert.h"

namespace uroce::wire {

HeaderTemplate make_header_template(const AddressFields& fields) {
  HeaderTemplate t{};
  t.ipv6 = !fields.dgid.is_ipv4();
  UROCE_ASSERT(t.ipv6 == !fields.sgid.is_ipv4());
  const EthernetFields ethernet{fields.source, fields.destination, fields.vlan, fields.vlan_tci};
  const uint32_t l3_offset =
      store_ethernet(t.bytes, ethernet, t.ipv6 ? kEthertypeIpv6 : kEthertypeIpv4);
  IpFields ip;
  ip.source = fields.sgid;
  ip.destination = fields.dgid;
  ip.traffic_class = fields.traffic_class;
  ip.hop_limit = fields.hop_limit;
  ip.flow_label = fields.flow_label;
  uint8_t* l3 = t.bytes + l3_offset;
  const uint32_t ip_bytes = store_ip(l3, ip, 0);
  if (t.ipv6) {
    std::memset(l3 + 4, 0, 2);
  } else {
    std::memset(l3 + 2, 0, 2);
    std::memset(l3 + 10, 0, 2);
    t.ipv4_partial_sum = checksum_fold(checksum_add(0, l3, kIpv4Bytes));
  }
  store_be16(l3 + ip_bytes, fields.udp_source_port);
  store_be16(l3 + ip_bytes + 2, kRoceUdpPort);
  t.l3_offset = static_cast<uint8_t>(l3_offset);
  t.length = static_cast<uint8_t>(l3_offset + ip_bytes + kUdpBytes);
  return t;
}

uint32_t finish_icrc(uint8_t* frame, uint32_t l3_offset, bool ipv6, uint32_t end) {
  const uint32_t bth = l3_offset + (ipv6 ? kIpv6Bytes : kIpv4Bytes) + kUdpBytes;
  const uint8_t pad = pad_bytes(end - bth);
  std::memset(frame + end, 0, pad);
  const uint32_t covered = end + pad - l3_offset;
  store_icrc(frame + end + pad, icrc(frame + l3_offset, ipv6, covered));
  return end + pad + kIcrcBytes;
}

uint32_t finish_tail(IcrcState state, uint8_t* tail, uint8_t pad) {
  std::memset(tail, 0, pad);
  store_icrc(tail + pad, icrc_value(icrc_update(state, tail, pad)));
  return pad + kIcrcBytes;
}

}  // namespace uroce::wire
