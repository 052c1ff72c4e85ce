// SPDX-License-Identifier: BSD-3-Clause
// Our libibverbs.so.1: where it is, and what it says of the devices that it is configured for.
#ifndef UROCE_APP_RUN_LIBRARY_H
#define UROCE_APP_RUN_LIBRARY_H

#include <cstdint>
#include <string>
#include <vector>

namespace run {

struct GidEntry {
  uint32_t index = 0;
  std::string interface;  // the kernel's, behind the port; "": there is none
};

struct Device {
  std::string name;  // "uroce0"
  std::string node;  // "uverbs0"
  std::vector<GidEntry> gids;
};

// The folder that has it, of the build tree or the installation that this program is part of.
// "": none has, and `wrong` says where was looked.
std::string find_library(std::string& wrong);

// The devices that the library in `folder` finds in the environment's configuration. If there are
// none, it has said why on stderr, or `wrong` does.
std::vector<Device> list_devices(const std::string& folder, std::string& wrong);

}  // namespace run

#endif  // UROCE_APP_RUN_LIBRARY_H
