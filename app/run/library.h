// SPDX-License-Identifier: BSD-3-Clause
// Our libibverbs.so.1: where it is, and what it says of the devices that it is configured for.
#ifndef UROCE_APP_RUN_LIBRARY_H
#define UROCE_APP_RUN_LIBRARY_H

#include <string>

namespace run {

// The folder that has it, of the build tree or the installation that this program is part of.
// "": none has, and `wrong` says where was looked.
std::string find_library(std::string& wrong);

// Whether the library in `folder` finds a device in the environment's configuration. If not, it
// has said why on stderr, or `wrong` does.
bool has_devices(const std::string& folder, std::string& wrong);

}  // namespace run

#endif  // UROCE_APP_RUN_LIBRARY_H
