// SPDX-License-Identifier: BSD-3-Clause
// The choice is a try to connect. The lock is one on the socket's directory, which leaves nothing
// behind and ends with the process, however that ends.
#include "nic/memif_end.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "base/quotable.h"

namespace uroce::nic {
namespace {

constexpr auto kLockWait = std::chrono::seconds(30);  // for all who start there before us
constexpr int kGreetingWaitMs = 10'000;               // for a server that stands still

// 0: somebody listens.
int try_connect(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return errno;
  const int result =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (result != 0) return errno == EAGAIN ? 0 : errno;  // EAGAIN: its backlog is full
  // The server greets; into a socket that is closed already it would write its death, by SIGPIPE or
  // by EAL's panic about a descriptor that net_memif then closes without taking it off EAL's list.
  pollfd greeting{socket.get(), POLLIN, 0};
  poll(&greeting, 1, kGreetingWaitMs);
  return 0;
}

}  // namespace

bool memif_server_listens(const std::string& path) { return try_connect(path) == 0; }

absl::Status MemifEnds::lock_directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (locks_.contains(directory)) return absl::OkStatus();
  Descriptor lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.is_open() || access(directory.c_str(), W_OK) != 0) {
    return absl::PermissionDeniedError(
        absl::StrFormat("memif socket %s: its directory is no place to write to (%s)",
                        quotable(path, kQuotedPathMax), std::strerror(errno)));
  }
  const auto deadline = std::chrono::steady_clock::now() + kLockWait;
  while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return absl::UnavailableError(absl::StrFormat(
          "memif socket %s: another process holds a lock on its directory: use a directory of "
          "its own",
          quotable(path, kQuotedPathMax)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  locks_.emplace(directory, std::move(lock));
  return absl::OkStatus();
}

absl::StatusOr<bool> MemifEnds::choose_server(const std::string& path) {
  if (absl::Status status = lock_directory_of(path); !status.ok()) return status;
  const int error = try_connect(path);
  if (error == 0) return false;
  if (error == ECONNREFUSED && unlink(path.c_str()) != 0 && errno != ENOENT) {
    return absl::PermissionDeniedError(
        absl::StrFormat("memif socket %s: it is left from a process that is gone, and cannot be "
                        "removed (%s): remove it",
                        quotable(path, kQuotedPathMax), std::strerror(errno)));
  }
  if (error == ECONNREFUSED || error == ENOENT) return true;
  return absl::UnavailableError(absl::StrFormat(
      "memif socket %s: %s: give socket=PATH a name that is free, of at most 107 characters",
      quotable(path, kQuotedPathMax), std::strerror(error)));
}

}  // namespace uroce::nic
