// SPDX-License-Identifier: BSD-3-Clause
// The checks of uroce-traffic. Both processes run the same ones at the same time.
#ifndef UROCE_TEST_SMOKE_TRAFFIC_TRAFFIC_H
#define UROCE_TEST_SMOKE_TRAFFIC_TRAFFIC_H

#include <uroce/ib_verbs.h>

#include <cstdint>
#include <string>

#include "common/endpoint.h"
#include "test/smoke/traffic/meeting.h"

namespace uroce::traffic {

// What every check needs. A check throws when it fails and returns its line when it holds.
struct Side {
  const Meeting& meeting;
  ib_device* device;
  ib_mtu path_mtu;
  bool client;
  uint32_t rounds;  // of ping-pong, for each size
  bool paced;       // pause at "attached" and "detached", for whoever looks at the host meanwhile

  uint32_t mtu_bytes() const { return static_cast<uint32_t>(ib_mtu_enum_to_int(path_mtu)); }
};

// Byte `i` of message `number` of one role: any two differ in most places.
void fill(uint8_t* to, uint32_t bytes, bool client, uint32_t number);
bool matches(const uint8_t* at, uint32_t bytes, bool client, uint32_t number);

// The GID table entry that carries RoCE of one IP version; throws when there is none.
app::GidEntry gid_of(ib_device* device, bool ipv6);

// Messages to and fro: below, at and above the path MTU.
std::string ping_pong(const Side& side, bool ipv6);
// Both write into each other's memory at once, then each compares every byte.
std::string write_both_ways(const Side& side, bool ipv6);
// Both attach and both send; each wants all of the peer's and all of its own.
std::string multicast(const Side& side, bool ipv6);

}  // namespace uroce::traffic

#endif  // UROCE_TEST_SMOKE_TRAFFIC_TRAFFIC_H
