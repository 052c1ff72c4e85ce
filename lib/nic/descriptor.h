// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor that closes itself.
#ifndef UROCE_NIC_DESCRIPTOR_H
#define UROCE_NIC_DESCRIPTOR_H

#include <unistd.h>

#include <utility>

namespace uroce::nic {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_DESCRIPTOR_H
