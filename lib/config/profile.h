// SPDX-License-Identifier: BSD-3-Clause
// The TOML profile: a file of settings (config/*.toml are examples).
#ifndef UROCE_CONFIG_PROFILE_H
#define UROCE_CONFIG_PROFILE_H

#include <absl/status/status.h>

#include <string>
#include <string_view>

#include "config/settings.h"

namespace uroce::config {

// Reads `text` into `settings`. Errors are one sentence: `name`:line: what is wrong and the cure.
absl::Status apply_profile_text(std::string_view text, const std::string& name, Settings& settings);
absl::Status apply_profile_file(const std::string& path, Settings& settings);

}  // namespace uroce::config

#endif  // UROCE_CONFIG_PROFILE_H
