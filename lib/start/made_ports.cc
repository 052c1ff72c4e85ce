// SPDX-License-Identifier: BSD-3-Clause
// From a port's settings to EAL's argument.
#include "start/made_ports.h"

#include <absl/strings/str_format.h>
#include <net/if.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/quotable.h"
#include "config/driver_keys.h"
#include "nic/frame_size.h"
#include "nic/kernel_interface.h"

namespace uroce::start {
namespace {

constexpr uint32_t kPageBytes = 4096;
constexpr uint32_t kMemifBufferUnit = 128;
constexpr uint32_t kFrameExtra = 14 + 4;  // Ethernet header, VLAN tag

absl::Status give(config::PortSettings& port, std::string_view key, std::string_view value) {
  if (config::driver_value(port, key)) return absl::OkStatus();
  return config::set_driver_key(port, key, value);
}
absl::Status give(config::PortSettings& port, std::string_view key, uint32_t value) {
  return give(port, key, std::to_string(value));
}

absl::Status complete_af_packet(config::PortSettings& port, uint32_t interface_mtu) {
  const bool own_ring = config::driver_value(port, "framesz") != std::nullopt ||
                        config::driver_value(port, "blocksz") != std::nullopt;
  if (own_ring || interface_mtu == 0) return absl::OkStatus();
  if (port.mtu_bytes == 0) port.mtu_bytes = std::min(interface_mtu, nic::kFullMtu);
  const uint32_t frame = nic::ring_frame_wanted(port.mtu_bytes);
  absl::Status status = give(port, "framesz", frame);
  status.Update(give(port, "blocksz", std::max(frame, kPageBytes)));
  status.Update(give(port, "framecnt", port.descriptors));
  if (port.queue_count > 1) status.Update(give(port, "qpairs", port.queue_count));
  return status;
}

absl::Status complete_memif(config::PortSettings& port) {
  if (!config::driver_value(port, "socket")) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %s: name the socket that both ends meet at, such as "
                        "socket=/run/uroce-memif",
                        quotable(port.name)));
  }
  if (port.mtu_bytes == 0) port.mtu_bytes = nic::kFullMtu;
  const uint32_t frame = port.mtu_bytes + kFrameExtra;
  absl::Status status = give(port, "socket-abstract", "no");
  status.Update(
      give(port, "bsize", (frame + kMemifBufferUnit - 1) / kMemifBufferUnit * kMemifBufferUnit));
  return status;
}

}  // namespace

absl::Status complete_port(config::PortSettings& port, uint32_t interface_mtu) {
  if (port.driver_arguments.empty()) return absl::OkStatus();
  if (port.name.starts_with("net_af_packet")) return complete_af_packet(port, interface_mtu);
  if (port.name.starts_with("net_memif")) return complete_memif(port);
  return absl::OkStatus();
}

absl::Status complete_ports(config::Settings& settings) {
  for (config::PortSettings& port : settings.ports) {
    uint32_t mtu = 0;
    const auto named = config::driver_value(port, "iface");
    if (named && !port.name.starts_with("net_tap")) {  // that one makes its interface
      const std::string interface(*named);
      const unsigned index = if_nametoindex(interface.c_str());
      if (index == 0) {
        return absl::NotFoundError(
            absl::StrFormat("port %s: there is no network interface '%s' here (ip link lists them)",
                            quotable(port.name), quotable(interface)));
      }
      auto kernel = nic::KernelInterface::open(static_cast<int>(index));
      if (!kernel.ok()) return kernel.status();
      const auto link = (*kernel)->link();
      if (!link.ok()) return link.status();
      mtu = link->mtu;
    }
    if (absl::Status status = complete_port(port, mtu); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// "0000:03:00.0" or "03:00.0".
bool is_pci(const config::PortSettings& port) {
  std::string shape = port.name;
  for (char& c : shape) {
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) c = 'x';
  }
  return shape == "xxxx:xx:xx.x" || shape == "xx:xx.x";
}

std::string eal_argument(const config::PortSettings& port) {
  if (is_pci(port)) return "--allow=" + port.name;
  if (!port.name.starts_with("net_") || port.name.starts_with("net_ring_u")) return "";
  if (port.driver_arguments.empty()) return "--vdev=" + port.name;
  return absl::StrFormat("--vdev=%s,%s", port.name, port.driver_arguments);
}

}  // namespace uroce::start
