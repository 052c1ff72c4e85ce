// SPDX-License-Identifier: BSD-3-Clause
// Two variables into settings.
#include "ibverbs/environment.h"

#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <cstdlib>
#include <vector>

#include "base/address_text.h"
#include "base/id_source.h"
#include "base/quotable.h"
#include "config/command_line.h"
#include "config/driver_keys.h"
#include "start/made_ports.h"

namespace uroce::ibverbs {
namespace {

// memif draws its MAC when it starts; programs ask for it, and for the GID made of it, before.
absl::Status choose_mac(config::PortSettings& port) {
  if (!port.name.starts_with("net_memif") || config::driver_value(port, "mac")) {
    return absl::OkStatus();
  }
  CsprngIdSource random;
  const uint32_t bits = random.next32();
  const uint32_t more = random.next32();
  MacAddress mac{{0x02}};  // local, one host
  for (size_t i = 0; i < 4; ++i) mac.bytes[1 + i] = static_cast<uint8_t>(bits >> (8 * i));
  mac.bytes[5] = static_cast<uint8_t>(more);
  return config::set_driver_key(port, "mac", mac_text(mac));
}

// Here EAL has no arguments but ours, so every port must be one that they make or find.
absl::Status check_can_be_made(const config::PortSettings& port) {
  const std::string name = quotable(port.name);
  if (start::eal_argument(port).empty() && !port.name.starts_with("net_ring_u")) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %s: there is no DPDK driver of this name: a network interface is "
                        "--port net_af_packet,iface=%s, a NIC that DPDK drives its PCI address",
                        name, name));
  }
  if (port.name.starts_with("net_af_packet") && !config::driver_value(port, "iface")) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %s: name its network interface: --port %s,iface=eth1", name, name));
  }
  if (port.name.starts_with("net_memif") && !config::driver_value(port, "socket")) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %s: name the socket that both ends meet at: --port "
                        "%s,socket=/run/uroce-memif,address=10.0.0.1/24",
                        name, name));
  }
  return absl::OkStatus();
}

std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

absl::StatusOr<config::Settings> read_settings(const std::string& config,
                                               const std::string& options) {
  std::vector<std::string> words;
  if (!config.empty()) words = {"--profile", config};
  for (absl::string_view word :
       absl::StrSplit(options, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    words.emplace_back(word);
  }
  std::vector<const char*> pointers;
  pointers.reserve(words.size());
  for (const std::string& word : words) pointers.push_back(word.c_str());
  auto settings = config::parse_command_line(pointers);
  if (!settings.ok()) return settings;
  if (settings->mode == config::DriveMode::kWorker) {
    return absl::InvalidArgumentError(
        "mode worker needs lcores of its own, which a program that knows nothing of uroce does not "
        "give it: leave mode out");
  }
  settings->mode = config::DriveMode::kShared;
  for (const config::PortSettings& port : settings->ports) {
    if (absl::Status status = check_can_be_made(port); !status.ok()) return status;
  }
  if (absl::Status status = start::complete_ports(*settings); !status.ok()) return status;
  for (config::PortSettings& port : settings->ports) {
    if (absl::Status status = choose_mac(port); !status.ok()) return status;
  }
  return settings;
}

absl::StatusOr<config::Settings> settings_of_environment() {
  return read_settings(variable("UROCE_CONFIG"), variable("UROCE_OPTIONS"));
}

}  // namespace uroce::ibverbs
