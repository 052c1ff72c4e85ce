// SPDX-License-Identifier: BSD-3-Clause
// Writing out control characters.
#include "config/one_line.h"

#include <string>

#include "base/quotable.h"

namespace uroce::config {

absl::Status in_one_line(const absl::Status& status) {
  return {status.code(), quotable(std::string(status.message()), std::string::npos)};
}

}  // namespace uroce::config
