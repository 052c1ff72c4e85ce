// SPDX-License-Identifier: BSD-3-Clause
// The same fan-out by the kernel: one UDP datagram to many sockets that have joined its group, on
// the loopback interface. Needs no privilege, only that `lo` is up.
#ifndef UROCE_TEST_PERF_KERNEL_FAN_OUT_H
#define UROCE_TEST_PERF_KERNEL_FAN_OUT_H

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "nic/descriptor.h"

namespace uroce::perf {

// What the system does not let us do, as a sentence.
class KernelRefuses : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

class KernelFanOut {
 public:
  // Throws KernelRefuses.
  KernelFanOut(uint32_t members, uint32_t payload_bytes);

  // Sends `burst` datagrams, each when all sockets have read the one before. Returns copies read
  // (= burst * members). Throws when one is lost.
  uint64_t round(uint32_t burst);

  // Whether the last datagram arrived at the socket that was read last.
  bool check() const { return received_ == sent_; }

 private:
  void open_sender();
  void add_member();
  void read(int socket);

  std::vector<uint8_t> sent_;
  std::vector<uint8_t> received_;
  nic::Descriptor sender_;
  uint16_t port_ = 0;  // as in a sockaddr; the first member's, and then everybody's
  std::vector<nic::Descriptor> members_;
};

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_KERNEL_FAN_OUT_H
