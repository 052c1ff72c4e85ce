// SPDX-License-Identifier: BSD-3-Clause
// The book of all datagrams of a run.
#include "test/sim/check/datagrams.h"

#include <algorithm>
#include <string>

namespace uroce::sim {

uint32_t DatagramBook::sent(uint32_t src_qp, size_t to, std::vector<uint8_t> bytes) {
  all_.push_back({src_qp, to, std::move(bytes), {}});
  return static_cast<uint32_t>(all_.size() - 1);
}

void DatagramBook::received(uint32_t number, uint32_t src_qp, size_t at, bool member,
                            std::span<const uint8_t> bytes, uint64_t copies_max, Verdict& verdict) {
  ++arrived_;
  const std::string which = "datagram " + std::to_string(number);
  if (number >= all_.size()) return verdict.fail("datagrams", which + " was never sent");
  Datagram& datagram = all_[number];
  if (datagram.to == kGroup ? !member : datagram.to != at) {
    verdict.fail("datagrams", which + " came to host " + std::to_string(at));
  } else if (datagram.src_qp != src_qp) {
    verdict.fail("datagrams", which + " names a wrong sender");
  } else if (!std::ranges::equal(datagram.bytes, bytes)) {
    verdict.fail("datagrams", which + " has other bytes or another length");
  } else if (++datagram.copies[at] > copies_max) {
    verdict.fail("datagrams", which + " came " + std::to_string(datagram.copies[at]) + " times");
  }
}

}  // namespace uroce::sim
