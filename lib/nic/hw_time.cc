// SPDX-License-Identifier: BSD-3-Clause
// Hardware receive times: the port's clock is held against the host's once, when the port starts.
// DPDK 22.11 calls rte_eth_read_clock experimental; later ones keep it as it is.
#define ALLOW_EXPERIMENTAL_API
#include "nic/hw_time.h"

#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>

#include <chrono>
#include <thread>

namespace uroce::nic {

bool counts_nanoseconds(uint64_t ticks, uint64_t elapsed_ns) {
  const uint64_t difference = ticks > elapsed_ns ? ticks - elapsed_ns : elapsed_ns - ticks;
  return elapsed_ns != 0 && difference <= elapsed_ns / 200;
}

HwTimeField find_hw_time(uint16_t port_id) {
  using Clock = std::chrono::steady_clock;
  uint64_t first = 0;
  uint64_t last = 0;
  const auto begin = Clock::now();
  if (rte_eth_read_clock(port_id, &first) != 0) return {};
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (rte_eth_read_clock(port_id, &last) != 0) return {};
  const std::chrono::nanoseconds elapsed = Clock::now() - begin;
  HwTimeField field;
  if (!counts_nanoseconds(last - first, static_cast<uint64_t>(elapsed.count())) ||
      rte_mbuf_dyn_rx_timestamp_register(&field.offset, &field.flag) != 0) {
    return {};
  }
  return field;
}

}  // namespace uroce::nic
