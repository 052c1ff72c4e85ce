// SPDX-License-Identifier: BSD-3-Clause
// Looks for queue pairs, groups, keys and timers that have outlived their owner.
#include "test/sim/check/leaks.h"

#include "test/sim/host.h"

namespace uroce::sim {

void check_leaks(Host& host, Verdict& verdict) {
  std::vector<device::QpSummary> qps;
  host.rdma_device().list_qps(qps);
  if (!qps.empty()) {
    verdict.fail("leaks", host.name() + ": " + std::to_string(qps.size()) + " queue pairs left");
  }
  if (!host.rdma_device().list_groups().empty()) {
    verdict.fail("leaks", host.name() + ": a group is left");
  }
  if (host.engine().shortest_armed_timeout() != Duration::max()) {
    verdict.fail("leaks", host.name() + ": an ACK timeout is still armed");
  }
  if (host.live_keys() != 0) {
    verdict.fail("leaks", host.name() + ": " + std::to_string(host.live_keys()) + " keys left");
  }
}

}  // namespace uroce::sim
