// SPDX-License-Identifier: BSD-3-Clause
// One table: driver, its keys.
#include "config/driver_keys.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <span>

#include "base/quotable.h"
#include "config/nearest.h"
#include "config/whole_number.h"

namespace uroce::config {
namespace {

constexpr std::string_view kAfPacket[] = {"iface",   "qpairs",   "blocksz",
                                          "framesz", "framecnt", "qdisc_bypass"};
constexpr std::string_view kMemif[] = {"id",    "role", "socket",    "socket-abstract", "bsize",
                                       "rsize", "mac",  "zero-copy", "secret"};
constexpr std::string_view kTap[] = {"iface", "remote", "mac"};
constexpr std::string_view kPcap[] = {"iface",       "rx_pcap",  "tx_pcap",     "rx_iface",
                                      "rx_iface_in", "tx_iface", "infinite_rx", "phy_mac"};
constexpr std::string_view kXdp[] = {"iface", "start_queue", "queue_count", "busy_budget"};
constexpr std::string_view kNull[] = {"size", "copy", "no-rx"};

// Of all drivers: those whose values are numbers. What is none is a 0 to most of them.
constexpr std::string_view kNumbers[] = {"qpairs",       "blocksz",     "framesz",     "framecnt",
                                         "qdisc_bypass", "id",          "bsize",       "rsize",
                                         "start_queue",  "queue_count", "busy_budget", "size",
                                         "copy",         "no-rx",       "infinite_rx", "phy_mac"};

// A port is made by the driver whose name its own begins with.
struct Driver {
  std::string_view name;
  std::span<const std::string_view> keys;
};
constexpr Driver kDrivers[] = {
    {"net_af_packet", kAfPacket}, {"net_memif", kMemif}, {"net_tap", kTap},
    {"net_pcap", kPcap},          {"net_af_xdp", kXdp},  {"net_null", kNull}};

bool has(const Driver& driver, std::string_view key) {
  return std::ranges::find(driver.keys, key) != driver.keys.end();
}

// Calls `function` with each key and value until it returns false.
template <typename Function>
void for_each(std::string_view arguments, Function&& function) {
  while (!arguments.empty()) {
    const size_t comma = std::min(arguments.find(','), arguments.size());
    const std::string_view item = arguments.substr(0, comma);
    const size_t equals = item.find('=');
    if (!function(item.substr(0, equals), item.substr(equals + 1))) return;
    arguments.remove_prefix(std::min(comma + 1, arguments.size()));
  }
}

}  // namespace

bool is_driver_key(std::string_view key) {
  return std::ranges::any_of(kDrivers, [&](const Driver& driver) { return has(driver, key); });
}

absl::Status set_driver_key(PortSettings& port, std::string_view key, std::string_view value) {
  if (driver_value(port, key)) {
    return absl::InvalidArgumentError(absl::StrFormat("%s is given twice: leave one out", key));
  }
  if (value.empty() || value.find_first_of(", \t\n") != std::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s=%s: give the driver a value without commas and blanks", key, quotable(value)));
  }
  if (!port.driver_arguments.empty()) port.driver_arguments += ',';
  port.driver_arguments += absl::StrFormat("%s=%s", key, value);
  return absl::OkStatus();
}

std::optional<std::string_view> driver_value(const PortSettings& port, std::string_view key) {
  std::optional<std::string_view> found;
  for_each(port.driver_arguments, [&](std::string_view name, std::string_view value) {
    if (name == key) found = value;
    return !found;
  });
  return found;
}

absl::Status check_driver_keys(const PortSettings& port) {
  const auto* const driver = std::ranges::find_if(
      kDrivers, [&](const Driver& candidate) { return port.name.starts_with(candidate.name); });
  absl::Status status = absl::OkStatus();
  for_each(port.driver_arguments, [&](std::string_view key, std::string_view value) {
    if (driver == std::end(kDrivers)) {
      status = absl::InvalidArgumentError(absl::StrFormat(
          "port %s: no driver of this name has a key '%s': call the port %s…, or leave it out",
          quotable(port.name), key,
          std::ranges::find_if(kDrivers, [&](const Driver& d) { return has(d, key); })->name));
    } else if (!has(*driver, key)) {
      status = absl::InvalidArgumentError(absl::StrFormat(
          "port %s: %s", quotable(port.name),
          unknown_word(absl::StrFormat("key of driver %s", driver->name), key, driver->keys)));
    } else if (std::ranges::find(kNumbers, key) != std::end(kNumbers) &&
               !whole_number<uint32_t>(value)) {
      status = absl::InvalidArgumentError(
          absl::StrFormat("port %s: %s=%s: give a number from 0 to 4294967295", quotable(port.name),
                          key, quotable(value)));
    }
    return status.ok();
  });
  return status;
}

}  // namespace uroce::config
