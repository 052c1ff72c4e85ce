// SPDX-License-Identifier: BSD-3-Clause
// From the attributes of an address handle to an address vector: the checks, the MAC addresses that
// need no asking, the header template. Pure.
#ifndef UROCE_DEVICE_PATH_H
#define UROCE_DEVICE_PATH_H

#include <cstdint>
#include <optional>

#include "base/types.h"
#include "device/flow_label.h"
#include "device/gid_table.h"
#include "transport/address_vector.h"

namespace uroce::device {

// What every face's address handle attributes come down to.
struct AhAttributes {
  Gid dgid;
  uint32_t sgid_index = 0;
  uint32_t flow_label = 0;  // 20 bits
  uint8_t hop_limit = 0;    // 0: kDefaultHopLimit
  uint8_t traffic_class = 0;
  uint8_t sl = 0;  // 0 … 7
  uint8_t static_rate = 0;
  uint32_t port = 1;
  bool global = false;  // the GRH flag: must be set on RoCE
  MacAddress dmac;      // zero: to be found; afterwards: what was found
};

inline constexpr uint8_t kDefaultHopLimit = 64;

// 0 and the source address; or, in this order, -EINVAL: port not 1, not global, sgid_index outside
// the table; -ENODATA: an empty entry; -EINVAL: destination zero or of the other IP version, or a
// service level above 7.
int check_path(const AhAttributes& attributes, const GidTable& gids, Gid& sgid);

// The MAC address of a destination that needs no asking: a group's, or our own for an address of
// this port. Nothing: the network has to be asked.
std::optional<MacAddress> known_mac(const Gid& dgid, const GidTable& gids, const MacAddress& own);

struct PathEnds {
  Gid sgid{};
  MacAddress source{};
  MacAddress destination{};
  uint16_t vlan_id = 0;      // 0: no tag
  bool own_address = false;  // dgid is an address of this port
};

// The vector for checked attributes. The UDP source port in its headers is that of the flow label;
// set_source_port() gives it the pair of QPNs.
transport::AddressVector make_address_vector(const AhAttributes& attributes, const PathEnds& ends);

// Where a vector meets its queue pair: the UDP source port for label and QPNs.
inline void set_source_port(transport::AddressVector& vector, uint32_t local_qpn,
                            uint32_t remote_qpn) {
  store_be16(vector.headers.bytes + vector.headers.length - wire::kUdpBytes,
             udp_source_port(vector.flow_label, local_qpn, remote_qpn));
}

}  // namespace uroce::device

#endif  // UROCE_DEVICE_PATH_H
