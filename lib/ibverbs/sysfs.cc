// SPDX-License-Identifier: BSD-3-Clause
// Text files below /sys, which librdmacm and the utilities read through us.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "ibverbs/undeclared.h"

namespace {

// SYSFS_PATH moves it, but not under a program that has more rights than its user.
std::string path_from_environment() {
  const char* wanted = secure_getenv("SYSFS_PATH");
  std::string path = wanted != nullptr ? wanted : "/sys";
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

const char* ibv_get_sysfs_path(void) {
  static const std::string& path = *new std::string(path_from_environment());
  return path.c_str();
}

int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size) {
  const std::string path = std::string(dir) + '/' + file;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  const ssize_t read_bytes = read(descriptor, buf, size);
  const int error = errno;
  close(descriptor);
  errno = error;
  if (read_bytes < 0) return -1;
  auto length = static_cast<size_t>(read_bytes);
  if (length > 0 && buf[length - 1] == '\n') --length;
  if (length == size) {
    errno = ENOBUFS;
    return -1;
  }
  buf[length] = '\0';
  return static_cast<int>(length);
}
