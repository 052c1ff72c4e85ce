// SPDX-License-Identifier: BSD-3-Clause
// Keys of a port that are its DPDK driver's: what makes a port that EAL has not been given.
#ifndef UROCE_CONFIG_DRIVER_KEYS_H
#define UROCE_CONFIG_DRIVER_KEYS_H

#include <absl/status/status.h>

#include <optional>
#include <string>
#include <string_view>

#include "config/settings.h"

namespace uroce::config {

// Whether some driver knows it, such as iface of net_af_packet.
bool is_driver_key(std::string_view key);

// Adds "key=value" to the port's driver arguments. A second value, none, or one that would end the
// argument: an error.
absl::Status set_driver_key(PortSettings& port, std::string_view key, std::string_view value);

// The value that was given.
std::optional<std::string_view> driver_value(const PortSettings& port, std::string_view key);

// Whether the port's driver has the keys that were given.
absl::Status check_driver_keys(const PortSettings& port);

}  // namespace uroce::config

#endif  // UROCE_CONFIG_DRIVER_KEYS_H
