// SPDX-License-Identifier: BSD-3-Clause
// The GID table: comparing the port's addresses with the entries, and placing new ones.
#include "device/gid_table.h"

#include <algorithm>
#include <cerrno>

namespace uroce::device {

Gid link_local_gid(const MacAddress& mac) {
  Gid gid;
  gid.bytes = {0xfe, 0x80};
  gid.bytes[8] = mac.bytes[0] ^ 0x02;
  gid.bytes[9] = mac.bytes[1];
  gid.bytes[10] = mac.bytes[2];
  gid.bytes[11] = 0xff;
  gid.bytes[12] = 0xfe;
  gid.bytes[13] = mac.bytes[3];
  gid.bytes[14] = mac.bytes[4];
  gid.bytes[15] = mac.bytes[5];
  return gid;
}

bool GidTable::place(const PortAddress& address) {
  Entry* free = nullptr;
  for (size_t i = 1; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.holders > 0 && entry.gid == address.address) {
      free = &entry;
      break;
    }
    if (free == nullptr && !entry.present && entry.holders == 0) free = &entry;
  }
  if (free == nullptr) return false;
  free->gid = address.address;
  free->prefix_length = address.prefix_length;
  free->present = true;
  return true;
}

bool GidTable::update(const MacAddress& mac, std::span<const PortAddress> addresses) {
  bool changed = false;
  const Gid first = link_local_gid(mac);
  if (!entries_[0].present || entries_[0].gid != first) {
    entries_[0].gid = first;
    entries_[0].prefix_length = 64;
    entries_[0].present = true;
    changed = true;
  }
  for (size_t i = 1; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (!entry.present) continue;
    const auto still = std::find_if(addresses.begin(), addresses.end(),
                                    [&](const PortAddress& a) { return a.address == entry.gid; });
    if (still == addresses.end()) {
      entry.present = false;
      changed = true;
    } else if (entry.prefix_length != still->prefix_length) {
      entry.prefix_length = still->prefix_length;
      changed = true;
    }
  }
  for (const PortAddress& address : addresses) {
    if (address.address.is_zero() || address.address.is_multicast()) continue;
    if (find(address.address)) continue;
    changed |= place(address);
  }
  return changed;
}

int GidTable::query(int64_t index, Gid& gid) const {
  if (index < 0 || index >= static_cast<int64_t>(entries_.size())) return -EINVAL;
  const Entry& entry = entries_[static_cast<size_t>(index)];
  if (!entry.present) return -ENODATA;
  gid = entry.gid;
  return 0;
}

std::optional<uint32_t> GidTable::find(const Gid& gid) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].present && entries_[i].gid == gid) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

std::vector<engine::LocalAddress> GidTable::local_addresses() const {
  std::vector<engine::LocalAddress> result;
  for (const Entry& entry : entries_) {
    if (entry.present) result.push_back({entry.gid, entry.prefix_length});
  }
  return result;
}

}  // namespace uroce::device
