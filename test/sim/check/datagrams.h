// SPDX-License-Identifier: BSD-3-Clause
// Checker "datagrams": a datagram that arrives is one that was sent to here, by whom it says, with
// its bytes, and no more often than the wire doubled frames. It may be lost or late.
#ifndef UROCE_TEST_SIM_CHECK_DATAGRAMS_H
#define UROCE_TEST_SIM_CHECK_DATAGRAMS_H

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "test/sim/verdict.h"

namespace uroce::sim {

class DatagramBook {
 public:
  static constexpr size_t kGroup = SIZE_MAX;

  // `to`: index of a host, or kGroup. Returns the datagram's number, sent as its immediate.
  uint32_t sent(uint32_t src_qp, size_t to, std::vector<uint8_t> bytes);
  // `copies_max`: how often a frame can arrive.
  void received(uint32_t number, uint32_t src_qp, size_t at, bool member,
                std::span<const uint8_t> bytes, uint64_t copies_max, Verdict& verdict);
  uint64_t arrived() const { return arrived_; }

 private:
  struct Datagram {
    uint32_t src_qp;
    size_t to;
    std::vector<uint8_t> bytes;
    std::map<size_t, uint64_t> copies;  // by host
  };
  std::vector<Datagram> all_;
  uint64_t arrived_ = 0;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_DATAGRAMS_H
