// SPDX-License-Identifier: BSD-3-Clause
// The GID table: which addresses this port has, under indexes that stay.
//
// Entry 0 is always fe80::/64 with the EUI-64 of the MAC address. Every other address gets the
// lowest free index when it appears and keeps it while it exists; one that comes back gets its old
// index if that is still held by an address handle or queue pair. An index that is held is not
// given to another address.
#ifndef UROCE_DEVICE_GID_TABLE_H
#define UROCE_DEVICE_GID_TABLE_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.h"
#include "device/port_ops.h"
#include "engine/command.h"

namespace uroce::device {

// fe80::/64 and the EUI-64 of a MAC address (RFC 4291, appendix A).
Gid link_local_gid(const MacAddress& mac);

class GidTable {
 public:
  explicit GidTable(uint32_t length) : entries_(length) {}

  // Takes the port's addresses as they are now. Returns whether anything changed. Addresses for
  // which there is no room, and those that no host can have, are left out.
  bool update(const MacAddress& mac, std::span<const PortAddress> addresses);

  // -EINVAL: outside the table; -ENODATA: empty.
  int query(int64_t index, Gid& gid) const;
  std::optional<uint32_t> find(const Gid& gid) const;
  uint32_t length() const { return static_cast<uint32_t>(entries_.size()); }

  // A user of an entry keeps it from being given to another address.
  void hold(uint32_t index) { ++entries_[index].holders; }
  void release(uint32_t index) { --entries_[index].holders; }

  // All addresses present, in index order, for the engines.
  std::vector<engine::LocalAddress> local_addresses() const;

 private:
  struct Entry {
    Gid gid;
    uint8_t prefix_length = 0;
    bool present = false;
    uint32_t holders = 0;
  };
  bool place(const PortAddress& address);

  std::vector<Entry> entries_;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_GID_TABLE_H
