// SPDX-License-Identifier: BSD-3-Clause
// Keys and words of the configuration, one table for the command line and the profile.
#ifndef UROCE_CONFIG_KEYS_H
#define UROCE_CONFIG_KEYS_H

#include <absl/status/status.h>

#include <string_view>

#include "config/settings.h"

namespace uroce::config {

// What a profile writes behind a key.
enum class ValueKind : uint8_t { kNumber, kNumbers, kText, kTexts, kNumberOrText, kFlag };
ValueKind value_kind(std::string_view key);

// OK, or a sentence about a key that is none, with the nearest that is.
absl::Status check_port_key(std::string_view key);
absl::Status check_key(std::string_view key);
absl::Status check_limit_key(std::string_view key);

// Sets one key of a port from its text; the keys are documented in doc/configuration.md. Flags
// (own, shared, promiscuous, privileged_qkey) take no value or "true"/"false".
absl::Status set_port_key(PortSettings& port, std::string_view key, std::string_view value);
// Sets one key of the whole: mode, rings, cores, fault, log_level.
absl::Status set_key(Settings& settings, std::string_view key, std::string_view value);
// Sets one limit.
absl::Status set_limit_key(LimitSettings& limits, std::string_view key, std::string_view value);

}  // namespace uroce::config

#endif  // UROCE_CONFIG_KEYS_H
