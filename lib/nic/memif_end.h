// SPDX-License-Identifier: BSD-3-Clause
// Which end of a memif this process is, so that both ends are configured alike and start in any
// order: whoever finds nobody at the socket is the server.
#ifndef UROCE_NIC_MEMIF_END_H
#define UROCE_NIC_MEMIF_END_H

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "nic/descriptor.h"

namespace uroce::nic {

// Whether a server listens at the socket file `path`. Waits up to 10 s for its greeting.
bool memif_server_listens(const std::string& path);

// Others who choose in the same directories wait as long as this lives: until the ports have
// started.
class MemifEnds {
 public:
  // Whether to be the server at the socket file `path`. One that nobody listens at is left from a
  // process that crashed, and is removed. kUnavailable, kPermissionDenied: one line.
  absl::StatusOr<bool> choose_server(const std::string& path);

 private:
  absl::Status lock_directory_of(const std::string& path);

  std::map<std::string, Descriptor> locks_;  // by directory
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_MEMIF_END_H
