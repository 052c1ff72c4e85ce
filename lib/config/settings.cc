// SPDX-License-Identifier: BSD-3-Clause
// The ranges of settings, and what one setting demands of another.
#include "config/settings.h"

#include <absl/strings/str_format.h>

#include <bit>
#include <map>
#include <set>

#include "base/host_address.h"
#include "config/driver_keys.h"
#include "config/one_line.h"

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

// The network itself, or everybody in it; a prefix of 31 or 32 bits has neither.
bool is_edge_of_its_prefix(const Prefix& prefix) {
  if (!prefix.address.is_ipv4() || prefix.length > 30) return false;
  const uint32_t host_bits = ~uint32_t{0} >> prefix.length;
  const uint32_t host = prefix.address.ipv4() & host_bits;
  return host == 0 || host == host_bits;
}

// Whether the first `prefix.length` bits of both are the same; both of one family.
bool on_link(const Gid& address, const Prefix& prefix) {
  const unsigned bits = prefix.length + (address.is_ipv4() ? 96u : 0u);
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned differs = address.bytes[bit / 8] ^ prefix.address.bytes[bit / 8];
    if ((differs >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

// A router is a neighbour: in the prefix of an address, or at a link-local one, which every port
// has its own of.
absl::Status validate_gateway(const PortSettings& port, const Gid& gateway) {
  if (gateway.is_zero()) return absl::OkStatus();
  if (port.ownership == Ownership::kShared) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "port %s is shared, so its routes are the kernel's: leave out gateway, or say own",
        port.name));
  }
  bool family = false, reached = gateway.is_link_local();
  for (const Prefix& prefix : port.addresses) {
    if (prefix.address == gateway) {
      return absl::InvalidArgumentError(
          absl::StrFormat("gateway %s of port %s is the port's own address: give the router's",
                          address_text(gateway), port.name));
    }
    if (prefix.address.is_ipv4() != gateway.is_ipv4()) continue;
    family = true;
    reached = reached || on_link(gateway, prefix);
  }
  if (reached) return absl::OkStatus();
  return absl::InvalidArgumentError(
      family ? absl::StrFormat("gateway %s of port %s is in the prefix of none of its addresses: "
                               "give a router that is on the link",
                               address_text(gateway), port.name)
             : absl::StrFormat("gateway %s of port %s needs an address of the same family beside "
                               "it: give the port an IPv%d address",
                               address_text(gateway), port.name, gateway.is_ipv4() ? 4 : 6));
}

absl::Status validate_membership_protocols(const PortSettings& port) {
  if (port.ownership != Ownership::kShared) return absl::OkStatus();
  const bool igmp = port.igmp_version.has_value();
  if (!igmp && !port.mld_version) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("port %s is shared, so the kernel speaks %s on it: leave out %s, or say own",
                      port.name, igmp ? "IGMP" : "MLD", igmp ? "igmp" : "mld"));
}

absl::Status validate_port(const PortSettings& port) {
  if (port.name.empty()) {
    return absl::InvalidArgumentError(
        "a port has no name: give the DPDK port name, such as net_af_packet0");
  }
  if (absl::Status status = validate_numbers(port); !status.ok()) return status;
  if (absl::Status status = check_driver_keys(port); !status.ok()) return status;
  if (port.addresses.size() > 16) {
    return absl::InvalidArgumentError(absl::StrFormat("port %s has %d addresses: give at most 16",
                                                      port.name, port.addresses.size()));
  }
  std::set<Gid> seen;
  for (const Prefix& prefix : port.addresses) {
    if (!can_be_a_hosts(prefix.address) || is_edge_of_its_prefix(prefix)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("address %s of port %s cannot be a host's own: give a unicast address",
                          prefix_text(prefix), port.name));
    }
    if (!seen.insert(prefix.address).second) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "address %s of port %s is given twice: leave one out", prefix_text(prefix), port.name));
    }
  }
  if (absl::Status status = validate_membership_protocols(port); !status.ok()) return status;
  if (absl::Status status = validate_gateway(port, port.gateway_ipv4); !status.ok()) return status;
  return validate_gateway(port, port.gateway_ipv6);
}

// Link-local addresses mean another host on every link.
absl::Status validate_distinct(const std::vector<PortSettings>& ports) {
  std::set<std::string> names;
  std::map<Gid, std::string> holders;
  for (const PortSettings& port : ports) {
    if (!names.insert(port.name).second) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "port %s is configured twice: leave one out, or number it: %s1", port.name, port.name));
    }
    for (const Prefix& prefix : port.addresses) {
      if (prefix.address.is_link_local()) continue;
      const auto [holder, fresh] = holders.emplace(prefix.address, port.name);
      if (fresh) continue;
      return absl::InvalidArgumentError(
          absl::StrFormat("address %s of port %s is that of port %s already: give each its own",
                          address_text(prefix.address), port.name, holder->second));
    }
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
      {"multicast_sources", limits.multicast_sources, 1, 1u << 20},
      {"members_per_group", limits.members_per_group, 1, 1u << 20},
  };
  for (const Range& range : ranges) {
    if (range.value < range.least || range.value > range.most) {
      return out_of_range(range.name, range.value, range.least, range.most);
    }
  }
  return absl::OkStatus();
}

}  // namespace

LogLevel log_level_of(const std::string& name) {
  if (name == "error") return LogLevel::kError;
  if (name == "info") return LogLevel::kInfo;
  return name == "debug" ? LogLevel::kDebug : LogLevel::kWarning;
}

absl::Status validate(const Settings& settings) {
  if (settings.rings > 8) return out_of_range("rings", settings.rings, 0, 8);
  if (settings.spin_us > 1'000'000) {
    return out_of_range("spin_us", settings.spin_us, 0, 1'000'000);
  }
  if (settings.sleep_us < 1 || settings.sleep_us > 10'000) {
    return out_of_range("sleep_us", settings.sleep_us, 1, 10'000);
  }
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
  for (const PortSettings& port : settings.ports) {
    if (absl::Status status = validate_port(port); !status.ok()) return in_one_line(status);
  }
  if (absl::Status status = validate_distinct(settings.ports); !status.ok()) {
    return in_one_line(status);
  }
  return validate_limits(settings.limits);
}

}  // namespace uroce::config
