// SPDX-License-Identifier: BSD-3-Clause
// Refusals in one line, whatever the input that they quote.
#ifndef UROCE_CONFIG_ONE_LINE_H
#define UROCE_CONFIG_ONE_LINE_H

#include <absl/status/status.h>

namespace uroce::config {

// The same status, with control characters of its message written out: \n, \t, \x1b.
absl::Status in_one_line(const absl::Status& status);

}  // namespace uroce::config

#endif  // UROCE_CONFIG_ONE_LINE_H
