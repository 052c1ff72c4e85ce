// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with EAL's arguments, found before EAL answers with a page of usage.
#ifndef UROCE_WORKER_EAL_CHECK_H
#define UROCE_WORKER_EAL_CHECK_H

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

namespace uroce::worker {

// `arguments`: the program's name first. OK, or one sentence with the cure; what only EAL can judge
// is left to it. Looks at the machine: huge pages, CPUs, interfaces and files that are named.
absl::Status check_arguments(const std::vector<std::string>& arguments);

// Whether a long option (without its dashes) is given, shortened or not.
bool has_option(const std::vector<std::string>& arguments, std::string_view name);

}  // namespace uroce::worker

#endif  // UROCE_WORKER_EAL_CHECK_H
