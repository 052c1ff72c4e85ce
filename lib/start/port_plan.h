// SPDX-License-Identifier: BSD-3-Clause
// From settings to the ports that are to be opened.
#ifndef UROCE_START_PORT_PLAN_H
#define UROCE_START_PORT_PLAN_H

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "config/settings.h"
#include "nic/port_config.h"

namespace uroce::start {

// One entry for each port, in the order of the settings. `present`: the DPDK ports that exist, used
// when the settings name none. An error is one sentence.
absl::StatusOr<std::vector<nic::PortConfig>> plan_ports(const config::Settings& settings,
                                                        const std::vector<std::string>& present);

// Queues that the memory rings of --rings need: as many as the port with the most.
uint32_t ring_queue_count(const config::Settings& settings);

}  // namespace uroce::start

#endif  // UROCE_START_PORT_PLAN_H
