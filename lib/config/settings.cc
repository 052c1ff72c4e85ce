// SPDX-License-Identifier: BSD-3-Clause
// The ranges of settings, and what one setting demands of another.
#include "config/settings.h"

#include <absl/strings/str_format.h>

#include <bit>
#include <set>

namespace uroce::config {
namespace {

absl::Status out_of_range(const std::string& name, uint64_t value, uint64_t least, uint64_t most) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %d: give a value from %d to %d", name, value, least, most));
}

struct Range {
  const char* name;
  uint64_t value, least, most;
};

absl::Status validate_numbers(const PortSettings& port) {
  const Range ranges[] = {
      {"vlan", port.vlan_id == 0 ? 1u : port.vlan_id, 1, 4094},
      {"mtu", port.mtu_bytes == 0 ? 340u : port.mtu_bytes, 340, 9600},
      {"queues", port.queue_count, 1, 16},
      {"descriptors", port.descriptors, 64, 32768},
  };
  for (const Range& range : ranges) {
    if (range.value < range.least || range.value > range.most) {
      return out_of_range(absl::StrFormat("%s of port %s", range.name, port.name), range.value,
                          range.least, range.most);
    }
  }
  return absl::OkStatus();
}

absl::Status validate_port(const PortSettings& port) {
  if (port.name.empty()) {
    return absl::InvalidArgumentError(
        "a port has no name: give the DPDK port name, such as net_af_packet0");
  }
  if (absl::Status status = validate_numbers(port); !status.ok()) return status;
  if (port.addresses.size() > 16) {
    return absl::InvalidArgumentError(absl::StrFormat("port %s has %d addresses: give at most 16",
                                                      port.name, port.addresses.size()));
  }
  std::set<Gid> seen;
  for (const Prefix& prefix : port.addresses) {
    if (prefix.address.is_multicast() || prefix.address.is_zero() ||
        (prefix.address.is_ipv4() && prefix.address.ipv4() == 0)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("address %s of port %s cannot be a host's own: give a unicast address",
                          prefix_text(prefix), port.name));
    }
    if (!seen.insert(prefix.address).second) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "address %s of port %s is given twice: leave one out", prefix_text(prefix), port.name));
    }
  }
  if (port.ownership == Ownership::kShared && !port.addresses.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %s is shared, so its addresses are the kernel's: leave out address, "
                        "or say own",
                        port.name));
  }
  return absl::OkStatus();
}

absl::Status validate_limits(const LimitSettings& limits) {
  if (limits.queue_pairs < 64 || limits.queue_pairs > (1u << 20) ||
      !std::has_single_bit(limits.queue_pairs)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "queue_pairs is %d: give a power of two from 64 to 1048576", limits.queue_pairs));
  }
  const Range ranges[] = {
      {"completion_queues", limits.completion_queues, 1, 1u << 20},
      {"memory_regions", limits.memory_regions, 16, 1u << 23},
      {"multicast_groups", limits.multicast_groups, 1, 1u << 16},
      {"multicast_members", limits.multicast_members, 1, 1u << 20},
  };
  for (const Range& range : ranges) {
    if (range.value < range.least || range.value > range.most) {
      return out_of_range(range.name, range.value, range.least, range.most);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status validate(const Settings& settings) {
  if (settings.rings > 8) return out_of_range("rings", settings.rings, 0, 8);
  if (settings.mode != DriveMode::kWorker && !settings.cores.empty()) {
    return absl::InvalidArgumentError("cores are for worker mode: add --mode worker");
  }
  std::set<uint32_t> cores;
  for (const uint32_t core : settings.cores) {
    if (!cores.insert(core).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("core %d is given twice: leave one out", core));
    }
  }
  std::set<std::string> names;
  for (const PortSettings& port : settings.ports) {
    if (absl::Status status = validate_port(port); !status.ok()) return status;
    if (!names.insert(port.name).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("port %s is configured twice: leave one out", port.name));
    }
  }
  return validate_limits(settings.limits);
}

}  // namespace uroce::config
