// SPDX-License-Identifier: BSD-3-Clause
// From the attributes of an address handle to an address vector.
#include "device/path.h"

#include <cerrno>

#include "base/bytes.h"
#include "device/flow_label.h"
#include "group/mgid.h"
#include "wire/emit.h"
#include "wire/ip.h"

namespace uroce::device {

int check_path(const AhAttributes& attributes, const GidTable& gids, Gid& sgid) {
  if (attributes.port != 1 || !attributes.global) return -EINVAL;
  if (const int error = gids.query(attributes.sgid_index, sgid); error != 0) return error;
  if (attributes.dgid.is_zero() || attributes.dgid.is_ipv4() != sgid.is_ipv4()) return -EINVAL;
  return attributes.sl > 7 ? -EINVAL : 0;
}

std::optional<MacAddress> known_mac(const Gid& dgid, const GidTable& gids, const MacAddress& own) {
  if (dgid.is_multicast()) return group::mac_of(dgid);
  if (gids.find(dgid)) return own;
  return std::nullopt;
}

transport::AddressVector make_address_vector(const AhAttributes& attributes, const PathEnds& ends) {
  transport::AddressVector vector{};
  wire::AddressFields fields;
  fields.source = ends.source;
  fields.destination = ends.destination;
  fields.vlan = ends.vlan_id != 0;
  fields.vlan_tci = static_cast<uint16_t>(attributes.sl << 13 | ends.vlan_id);
  fields.sgid = ends.sgid;
  fields.dgid = attributes.dgid;
  fields.traffic_class = attributes.traffic_class;
  fields.hop_limit = attributes.hop_limit != 0 ? attributes.hop_limit : kDefaultHopLimit;
  fields.flow_label = attributes.flow_label & 0xFFFFF;
  fields.udp_source_port = udp_source_port_of_label(attributes.flow_label);
  vector.headers = wire::make_header_template(fields);
  vector.sgid = ends.sgid;
  vector.dgid = attributes.dgid;
  vector.flow_label = attributes.flow_label;
  vector.multicast = attributes.dgid.is_multicast();
  // A group's members may be here as well as out there; the loop knows whether any are here.
  vector.route = vector.multicast ? Route::kBoth : ends.own_address ? Route::kLocal : Route::kWire;
  return vector;
}

}  // namespace uroce::device
