// SPDX-License-Identifier: BSD-3-Clause
// From the text of a key to the setting: one table each for the whole, a port and the limits.
#include "config/keys.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/host_address.h"
#include "base/quotable.h"
#include "config/driver_keys.h"
#include "config/nearest.h"
#include "config/whole_number.h"

namespace uroce::config {
namespace {

absl::Status bad_value(std::string_view key, std::string_view value, const char* wanted) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s=%s: give %s", std::string(key), quotable(value), wanted));
}

// `range` is said only: validate() holds it, once all settings are known. `least` is 1 where 0
// stands for a setting that was not given.
template <typename T>
absl::Status set_number(T& target, std::string_view key, std::string_view value, const char* range,
                        T least = 0) {
  const std::optional<T> number = whole_number<T>(value);
  if (!number || *number < least) return bad_value(key, value, range);
  target = *number;
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
  if (!on) return absl::OkStatus();
  const Ownership wanted = key == "own" ? Ownership::kOwn : Ownership::kShared;
  if (port.ownership != Ownership::kAuto && port.ownership != wanted) {
    return absl::InvalidArgumentError("own and shared exclude each other: give one of them");
  }
  port.ownership = wanted;
  return absl::OkStatus();
}

absl::Status set_gateway(PortSettings& port, std::string_view key, std::string_view value) {
  const auto gateway = parse_address(value);
  if (!gateway || !can_be_a_hosts(*gateway)) {
    return bad_value(key, value, "the address of a router");
  }
  Gid& target = gateway->is_ipv4() ? port.gateway_ipv4 : port.gateway_ipv6;
  if (!target.is_zero()) {
    return bad_value(key, value, "one gateway for each of IPv4 and IPv6, this is the second");
  }
  target = *gateway;
  return absl::OkStatus();
}

absl::Status set_version(std::optional<uint8_t>& target, std::string_view key,
                         std::string_view value, uint8_t newest) {
  uint8_t version = 0;
  if (value != "off") {
    const bool is_digit = value.size() == 1 && value[0] >= '1' && value[0] <= '0' + newest;
    if (!is_digit) {
      return bad_value(key, value,
                       newest == 3 ? "off, 1, 2 or 3, the newest version to speak"
                                   : "off, 1 or 2, the newest version to speak");
    }
    version = static_cast<uint8_t>(value[0] - '0');
  }
  target = version;
  return absl::OkStatus();
}

constexpr size_t kPortNameMax = 63;  // RTE_ETH_NAME_MAX_LEN

constexpr std::string_view kKeys[] = {"mode",    "rings",    "cores",    "fault",   "log_level",
                                      "spin_us", "sleep_us", "[limits]", "[[port]]"};
constexpr std::string_view kPortKeys[] = {
    "name",        "address",     "gateway",         "own",  "shared", "vlan", "mtu", "queues",
    "descriptors", "promiscuous", "privileged_qkey", "igmp", "mld"};
constexpr std::string_view kLimits[] = {
    "queue_pairs",       "completion_queues", "memory_regions",   "multicast_groups",
    "multicast_members", "members_per_group", "multicast_sources"};

absl::Status unknown(const char* what, std::string_view key,
                     std::span<const std::string_view> known) {
  return absl::InvalidArgumentError(unknown_word(what, key, known));
}

absl::Status check(const char* what, std::string_view key,
                   std::span<const std::string_view> known) {
  const bool found = std::find(known.begin(), known.end(), key) != known.end();
  return found ? absl::OkStatus() : unknown(what, key, known);
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
  if (value.empty()) return bad_value("cores", value, "lcore numbers, such as 1,2");
  while (!value.empty()) {
    const size_t comma = value.find(',');
    uint32_t core = 0;
    if (absl::Status status =
            set_number(core, "cores", value.substr(0, comma), "lcore numbers, such as 1,2");
        !status.ok()) {
      return status;
    }
    settings.cores.push_back(core);
    value = comma == std::string_view::npos ? std::string_view{} : value.substr(comma + 1);
  }
  return absl::OkStatus();
}

}  // namespace

ValueKind value_kind(std::string_view key) {
  if (key == "cores") return ValueKind::kNumbers;
  if (key == "address" || key == "gateway") return ValueKind::kTexts;
  if (key == "own" || key == "shared" || key == "promiscuous" || key == "privileged_qkey") {
    return ValueKind::kFlag;
  }
  if (key == "igmp" || key == "mld" || is_driver_key(key)) return ValueKind::kNumberOrText;
  const bool text = key == "name" || key == "mode" || key == "fault" || key == "log_level";
  return text ? ValueKind::kText : ValueKind::kNumber;
}

absl::Status check_port_key(std::string_view key) {
  return is_driver_key(key) ? absl::OkStatus() : check("port key", key, kPortKeys);
}

absl::Status check_key(std::string_view key) { return check("key", key, kKeys); }

absl::Status check_limit_key(std::string_view key) { return check("limit", key, kLimits); }

absl::Status set_port_key(PortSettings& port, std::string_view key, std::string_view value) {
  if (key == "name") {
    if (value.size() > kPortNameMax) {
      return bad_value(key, value, "the name of a DPDK port, which has at most 63 characters");
    }
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
  if (key == "vlan") {
    return set_number(port.vlan_id, key, value, "a number from 1 to 4094", uint16_t{1});
  }
  if (key == "mtu") {
    return set_number(port.mtu_bytes, key, value, "a number from 340 to 9600", 1u);
  }
  if (key == "queues") return set_number(port.queue_count, key, value, "a number from 1 to 16");
  if (key == "descriptors") {
    return set_number(port.descriptors, key, value, "a number from 64 to 32768");
  }
  if (key == "promiscuous") return set_flag(port.promiscuous, key, value);
  if (key == "privileged_qkey") return set_flag(port.privileged_qkey, key, value);
  if (key == "igmp") return set_version(port.igmp_version, key, value, 3);
  if (key == "mld") return set_version(port.mld_version, key, value, 2);
  if (is_driver_key(key)) return set_driver_key(port, key, value);
  return unknown("port key", key, kPortKeys);
}

absl::Status set_key(Settings& settings, std::string_view key, std::string_view value) {
  if (key == "mode") return set_mode(settings, value);
  if (key == "rings") return set_number(settings.rings, key, value, "a number from 0 to 8");
  if (key == "cores") return set_cores(settings, value);
  if (key == "spin_us") {
    return set_number(settings.spin_us, key, value, "a number from 0 to 1000000");
  }
  if (key == "sleep_us") {
    return set_number(settings.sleep_us, key, value, "a number from 1 to 10000");
  }
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
  return unknown("key", key, kKeys);
}

absl::Status set_limit_key(LimitSettings& limits, std::string_view key, std::string_view value) {
  if (key == "queue_pairs") {
    return set_number(limits.queue_pairs, key, value, "a power of two from 64 to 1048576");
  }
  if (key == "completion_queues") {
    return set_number(limits.completion_queues, key, value, "a number from 1 to 1048576");
  }
  if (key == "memory_regions") {
    return set_number(limits.memory_regions, key, value, "a number from 16 to 8388608");
  }
  if (key == "multicast_groups") {
    return set_number(limits.multicast_groups, key, value, "a number from 1 to 65536");
  }
  if (key == "multicast_members") {
    return set_number(limits.multicast_members, key, value, "a number from 1 to 1048576");
  }
  if (key == "members_per_group") {
    return set_number(limits.members_per_group, key, value, "a number from 1 to 1048576");
  }
  if (key == "multicast_sources") {
    return set_number(limits.multicast_sources, key, value, "a number from 1 to 1048576");
  }
  return unknown("limit", key, kLimits);
}

}  // namespace uroce::config
