// SPDX-License-Identifier: BSD-3-Clause
// From the text of a key to the setting: one table each for the whole, a port and the limits.
#include "config/keys.h"

#include <absl/strings/str_format.h>

#include <charconv>

namespace uroce::config {
namespace {

absl::Status bad_value(std::string_view key, std::string_view value, const char* wanted) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s=%s: give %s", std::string(key), std::string(value), wanted));
}

template <typename T>
absl::Status set_number(T& target, std::string_view key, std::string_view value) {
  T number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    return bad_value(key, value, "a number");
  }
  target = number;
  return absl::OkStatus();
}

absl::Status set_flag(bool& target, std::string_view key, std::string_view value) {
  if (value.empty() || value == "true") {
    target = true;
  } else if (value == "false") {
    target = false;
  } else {
    return bad_value(key, value, "true or false");
  }
  return absl::OkStatus();
}

absl::Status set_ownership(PortSettings& port, std::string_view key, std::string_view value) {
  bool on = false;
  if (absl::Status status = set_flag(on, key, value); !status.ok()) return status;
  if (on) port.ownership = key == "own" ? Ownership::kOwn : Ownership::kShared;
  return absl::OkStatus();
}

absl::Status set_gateway(PortSettings& port, std::string_view key, std::string_view value) {
  const auto gateway = parse_address(value);
  if (!gateway || gateway->is_multicast()) return bad_value(key, value, "the address of a router");
  (gateway->is_ipv4() ? port.gateway_ipv4 : port.gateway_ipv6) = *gateway;
  return absl::OkStatus();
}

absl::Status unknown(const char* what, std::string_view key, const char* known) {
  return absl::InvalidArgumentError(
      absl::StrFormat("unknown %s '%s': known are %s", what, std::string(key), known));
}

absl::Status set_mode(Settings& settings, std::string_view value) {
  if (value == "inline") {
    settings.mode = DriveMode::kInline;
  } else if (value == "shared") {
    settings.mode = DriveMode::kShared;
  } else if (value == "worker") {
    settings.mode = DriveMode::kWorker;
  } else {
    return bad_value("mode", value, "inline, shared or worker");
  }
  return absl::OkStatus();
}

absl::Status set_cores(Settings& settings, std::string_view value) {
  settings.cores.clear();
  while (!value.empty()) {
    const size_t comma = value.find(',');
    uint32_t core = 0;
    if (absl::Status status = set_number(core, "cores", value.substr(0, comma)); !status.ok()) {
      return status;
    }
    settings.cores.push_back(core);
    value = comma == std::string_view::npos ? std::string_view{} : value.substr(comma + 1);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status set_port_key(PortSettings& port, std::string_view key, std::string_view value) {
  if (key == "name") {
    port.name = value;
    return absl::OkStatus();
  }
  if (key == "address") {
    const auto prefix = parse_prefix(value);
    if (!prefix) return bad_value(key, value, "an address with its prefix, such as 10.0.0.1/24");
    port.addresses.push_back(*prefix);
    return absl::OkStatus();
  }
  if (key == "gateway") return set_gateway(port, key, value);
  if (key == "own" || key == "shared") return set_ownership(port, key, value);
  if (key == "vlan") return set_number(port.vlan_id, key, value);
  if (key == "mtu") return set_number(port.mtu_bytes, key, value);
  if (key == "queues") return set_number(port.queue_count, key, value);
  if (key == "descriptors") return set_number(port.descriptors, key, value);
  if (key == "promiscuous") return set_flag(port.promiscuous, key, value);
  return unknown("port key", key,
                 "name, address, gateway, own, shared, vlan, mtu, queues, descriptors, "
                 "promiscuous");
}

absl::Status set_key(Settings& settings, std::string_view key, std::string_view value) {
  if (key == "mode") return set_mode(settings, value);
  if (key == "rings") return set_number(settings.rings, key, value);
  if (key == "cores") return set_cores(settings, value);
  if (key == "fault") {
    settings.fault = value;
    return absl::OkStatus();
  }
  if (key == "log_level") {
    if (value != "error" && value != "warning" && value != "info" && value != "debug") {
      return bad_value(key, value, "error, warning, info or debug");
    }
    settings.log_level = value;
    return absl::OkStatus();
  }
  return unknown("key", key, "mode, rings, cores, fault, log_level, [limits], [[port]]");
}

absl::Status set_limit_key(LimitSettings& limits, std::string_view key, std::string_view value) {
  if (key == "queue_pairs") return set_number(limits.queue_pairs, key, value);
  if (key == "completion_queues") return set_number(limits.completion_queues, key, value);
  if (key == "memory_regions") return set_number(limits.memory_regions, key, value);
  if (key == "multicast_groups") return set_number(limits.multicast_groups, key, value);
  if (key == "multicast_members") return set_number(limits.multicast_members, key, value);
  return unknown("limit", key,
                 "queue_pairs, completion_queues, memory_regions, multicast_groups, "
                 "multicast_members");
}

}  // namespace uroce::config
