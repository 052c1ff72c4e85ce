// SPDX-License-Identifier: BSD-3-Clause
// The same questions that lib/nic asks of a port, answered without one.
#include "ibverbs/describe.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>
#include <net/if.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/address_text.h"
#include "config/driver_keys.h"
#include "nic/frame_size.h"
#include "nic/kernel_interface.h"
#include "nic/ring_pairs.h"
#include "start/unit.h"

namespace uroce::ibverbs {
namespace {

constexpr uint32_t kVirtualMbps = 10'000;  // what DPDK's virtual drivers say
constexpr uint32_t kEthernetBytes = 14;

// DPDK's name of the driver that makes the port.
std::string driver_of(const config::PortSettings& port) {
  for (const char* driver : {"net_af_packet", "net_memif", "net_null", "net_ring", "net_pcap",
                             "net_tap", "net_af_xdp"}) {
    if (port.name.starts_with(driver)) return driver;
  }
  return "";
}

// The kernel interface whose name the driver was given, or 0.
int interface_of(const config::PortSettings& port) {
  const auto name = config::driver_value(port, "iface");
  return name ? static_cast<int>(if_nametoindex(std::string(*name).c_str())) : 0;
}

// What ports without a MAC of their own get (nic/port.cc); memif's stands in its arguments.
MacAddress mac_of(const config::PortSettings& port, const std::string& driver, uint32_t index) {
  if (const auto mac = config::driver_value(port, "mac")) {
    return parse_mac(*mac).value_or(MacAddress{});
  }
  uint32_t ring = 0;
  if (port.name.starts_with("net_ring_u") && absl::SimpleAtoi(port.name.substr(10), &ring)) {
    index = ring;
  }
  const bool ours = driver == "net_ring" || driver == "net_null";
  return ours ? nic::local_mac(static_cast<uint8_t>(index)) : MacAddress{};
}

std::vector<device::PortAddress> own_addresses(const config::PortSettings& port) {
  std::vector<device::PortAddress> addresses;
  addresses.reserve(port.addresses.size());
  for (const Prefix& prefix : port.addresses) addresses.push_back({prefix.address, prefix.length});
  return addresses;
}

// The kernel's addresses, of which the settings may name some.
std::vector<device::PortAddress> shared_addresses(nic::KernelInterface& kernel,
                                                  const config::PortSettings& port) {
  auto found = kernel.addresses();
  if (!found.ok()) return {};
  if (!port.addresses.empty()) {
    std::erase_if(*found, [&](const device::PortAddress& address) {
      return std::ranges::none_of(
          port.addresses, [&](const Prefix& wanted) { return wanted.address == address.address; });
    });
  }
  return *std::move(found);
}

// Link, MAC, MTU and addresses of the interface, or of the VLAN interface on it.
void look_at_kernel(int if_index, const config::PortSettings& port, nic::FrameSizeFacts& facts,
                    DeviceDescription& device) {
  device.port.kernel_if_index = if_index;
  auto kernel = nic::KernelInterface::open(if_index);
  if (!kernel.ok()) return;
  const auto link = (*kernel)->link();
  if (!link.ok()) return;
  device.port.mac = link->mac;
  device.port.link_up = link->up;
  device.port.link_changes = link->carrier_changes;
  facts.interface = link->name;
  facts.interface_mtu = link->mtu;
  if (port.ownership == config::Ownership::kOwn) return;
  const int addressed = port.vlan_id == 0 ? if_index : (*kernel)->vlan_child(port.vlan_id);
  if (addressed == 0) return;
  auto shared = nic::KernelInterface::open(addressed);
  if (!shared.ok()) return;
  std::vector<device::PortAddress> addresses = shared_addresses(**shared, port);
  if (addresses.empty()) return;
  device.port.ownership = device::PortOwnership::kShared;
  device.port.filter = device::FilterKind::kKernelGroup;
  device.addresses = std::move(addresses);
}

}  // namespace

DeviceDescription describe_device(const config::Settings& settings, uint32_t index) {
  const config::PortSettings& port = settings.ports[index];
  DeviceDescription device;
  device.name = absl::StrFormat("uroce%d", index);
  device.limits = start::device_limits(settings.limits);
  device.qp_max = settings.limits.queue_pairs * port.queue_count;
  device.mr_max = settings.limits.memory_regions;
  const std::string driver = driver_of(port);
  device.port.name = port.name;
  device.port.mac = mac_of(port, driver, index);
  device.port.link_mbps = kVirtualMbps;
  device.port.link_up = true;
  device.port.vlan_id = port.vlan_id;
  device.port.queue_count = port.queue_count;
  device.addresses = own_addresses(port);
  nic::FrameSizeFacts facts{.port = port.name,
                            .driver = driver,
                            .devargs = port.driver_arguments,
                            .max_rx_pktlen = UINT32_MAX,
                            .max_mtu = UINT16_MAX,
                            .mtu_wish = static_cast<uint16_t>(port.mtu_bytes)};
  if (const int if_index = interface_of(port); if_index != 0) {
    look_at_kernel(if_index, port, facts, device);
  }
  const auto size = nic::choose_frame_size(facts);
  device.port.frame_bytes_max = size.ok() ? size->frame_bytes_max : nic::kFullMtu + kEthernetBytes;
  return device;
}

}  // namespace uroce::ibverbs
