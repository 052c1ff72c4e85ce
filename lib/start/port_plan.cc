// SPDX-License-Identifier: BSD-3-Clause
// Settings of ports into the port room's own words.
#include "start/port_plan.h"

#include <absl/strings/str_format.h>

#include <algorithm>

#include "base/log.h"

namespace uroce::start {
namespace {

nic::OwnershipWish wish(config::Ownership ownership) {
  switch (ownership) {
    case config::Ownership::kOwn:
      return nic::OwnershipWish::kOwn;
    case config::Ownership::kShared:
      return nic::OwnershipWish::kShared;
    case config::Ownership::kAuto:
      break;
  }
  return nic::OwnershipWish::kAuto;
}

nic::PortConfig plan(const config::PortSettings& port, const nic::FaultPlan& faults) {
  nic::PortConfig planned;
  planned.name = port.name;
  planned.ownership = wish(port.ownership);
  for (const Prefix& prefix : port.addresses) {
    planned.addresses.push_back({prefix.address, prefix.length});
  }
  planned.gateway_ipv4 = port.gateway_ipv4;
  planned.gateway_ipv6 = port.gateway_ipv6;
  planned.vlan_id = port.vlan_id;
  planned.mtu = static_cast<uint16_t>(port.mtu_bytes);
  planned.queue_count = port.queue_count;
  planned.descriptors = static_cast<uint16_t>(port.descriptors);
  planned.promiscuous = port.promiscuous;
  planned.privileged_qkey = port.privileged_qkey;
  planned.igmp_version = port.igmp_version;
  planned.mld_version = port.mld_version;
  planned.faults = faults;
  planned.log = [](const std::string& line) { log(LogLevel::kWarning, line); };
  return planned;
}

}  // namespace

uint32_t ring_queue_count(const config::Settings& settings) {
  uint32_t most = 1;
  for (const config::PortSettings& port : settings.ports) most = std::max(most, port.queue_count);
  return most;
}

absl::Status check_has_address(const device::PortInfo& port, const std::string& driver,
                               const nic::PortConfig& config) {
  if (port.ownership == device::PortOwnership::kShared || !config.addresses.empty()) {
    return absl::OkStatus();
  }
  if (driver == "net_pcap" || driver == "net_null") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "port %s: an own port needs an address: name one, such as --port %s,address=10.0.0.1/24%s",
      port.name, port.name,
      port.kernel_if_index == 0 ? "" : ", or give its kernel interface one, which is then shared"));
}

absl::StatusOr<std::vector<nic::PortConfig>> plan_ports(const config::Settings& settings,
                                                        const std::vector<std::string>& present) {
  nic::FaultPlan faults;
  if (!settings.fault.empty()) {
    auto parsed = nic::parse_fault_plan(settings.fault);
    if (!parsed.ok()) return parsed.status();
    faults = *parsed;
  }
  std::vector<nic::PortConfig> ports;
  ports.reserve(settings.ports.size());
  for (const config::PortSettings& port : settings.ports) ports.push_back(plan(port, faults));
  if (settings.ports.empty()) {
    for (const std::string& name : present) {
      config::PortSettings port;
      port.name = name;
      ports.push_back(plan(port, faults));
    }
  }
  if (ports.empty()) {
    return absl::NotFoundError(
        "there is no port to use: give EAL one, such as --vdev=net_af_packet0,iface=eth0, or add "
        "--rings 1");
  }
  return ports;
}

}  // namespace uroce::start
