// SPDX-License-Identifier: BSD-3-Clause
// Settings of a program that knows nothing of us: from its environment.
#ifndef UROCE_IBVERBS_ENVIRONMENT_H
#define UROCE_IBVERBS_ENVIRONMENT_H

#include <absl/status/statusor.h>

#include <string>

#include "config/settings.h"

namespace uroce::ibverbs {

// The profile `config` (a file; empty: none), and on top of it `options`, words between blanks, as
// on a command line: "--port net_af_packet,iface=eth1". Completed (start/made_ports.h), in shared
// mode. Without a port: none, which is no error. Errors are one sentence.
absl::StatusOr<config::Settings> read_settings(const std::string& config,
                                               const std::string& options);

// The same from UROCE_CONFIG and UROCE_OPTIONS; a program with more rights than its user sees
// neither.
absl::StatusOr<config::Settings> settings_of_environment();

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_ENVIRONMENT_H
