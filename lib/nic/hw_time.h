// SPDX-License-Identifier: BSD-3-Clause
// Hardware receive times: where the port stamps frames by a clock that counts nanoseconds.
#ifndef UROCE_NIC_HW_TIME_H
#define UROCE_NIC_HW_TIME_H

#include <cstdint>

namespace uroce::nic {

// Where an mbuf carries its hardware time.
struct HwTimeField {
  int offset = -1;    // dynamic field; -1: none
  uint64_t flag = 0;  // ol_flags bit of an mbuf that has it
};

// After the port has started with RTE_ETH_RX_OFFLOAD_TIMESTAMP. No field when the port's clock
// cannot be read or counts anything but nanoseconds: a time in unknown units helps nobody. Takes
// about 10 ms. Control thread.
HwTimeField find_hw_time(uint16_t port_id);

// `ticks` passed in about `elapsed_ns`: a clock of nanoseconds, to half a percent.
bool counts_nanoseconds(uint64_t ticks, uint64_t elapsed_ns);

}  // namespace uroce::nic

#endif  // UROCE_NIC_HW_TIME_H
