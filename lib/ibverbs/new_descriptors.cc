// SPDX-License-Identifier: BSD-3-Clause
// Two looks at /proc/self/fd.
#include "ibverbs/new_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

namespace uroce::ibverbs {
namespace {

std::set<int> open_descriptors() {
  std::set<int> open;
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return open;
  const int own = dirfd(directory);
  while (const dirent* entry = readdir(directory)) {
    const int descriptor = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && descriptor != own) open.insert(descriptor);
  }
  closedir(directory);
  return open;
}

bool may_be_dpdks(int descriptor) {
  std::array<char, 64> target{};
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  if (length < 0) return false;
  const std::string_view kind(target.data(), static_cast<size_t>(length));
  for (const std::string_view known : {"socket:", "anon_inode:", "pipe:", "/memfd:", "/dev/"}) {
    if (kind.starts_with(known)) return true;
  }
  return false;
}

}  // namespace

NewDescriptors::NewDescriptors() : before_(open_descriptors()) {}

void NewDescriptors::close_on_exec() const {
  for (const int descriptor : open_descriptors()) {
    if (before_.contains(descriptor) || !may_be_dpdks(descriptor)) continue;
    const int flags = fcntl(descriptor, F_GETFD);
    if (flags >= 0) fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC);
  }
}

}  // namespace uroce::ibverbs
