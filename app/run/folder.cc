// SPDX-License-Identifier: BSD-3-Clause
// A process that will be another program, or be killed, cannot remove anything itself: a second one
// waits for its end. It is nobody's child that the program would know of, in a session of its own,
// and holds nothing open but its view of the first.
#include "folder.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>

namespace run {
namespace {

[[noreturn]] void remove_after(int process, const std::string& folder) {
  setsid();
  dup2(process, 0);
  close_range(1, UINT_MAX, 0);
  if (chdir("/") != 0) _exit(1);
  pollfd ended{.fd = 0, .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  _exit(0);
}

// Returns 0 or an errno. The one in between is waited for, so that the program finds no child.
int leave_remover(const std::string& folder) {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (process < 0) return errno;
  const pid_t between = fork();
  if (between == 0) {
    const pid_t remover = fork();
    if (remover == 0) remove_after(process, folder);
    _exit(remover < 0 ? errno : 0);
  }
  int status = errno << 8;
  if (between > 0) waitpid(between, &status, 0);
  close(process);
  return WEXITSTATUS(status);
}

}  // namespace

int make_folder_of_this_process(std::string& name) {
  if (mkdtemp(name.data()) == nullptr || chmod(name.c_str(), 0755) != 0) return errno;
  const int error = leave_remover(name);
  if (error != 0) rmdir(name.c_str());
  return error;
}

}  // namespace run
