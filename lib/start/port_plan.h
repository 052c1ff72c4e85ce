// SPDX-License-Identifier: BSD-3-Clause
// From settings to the ports that are to be opened.
#ifndef UROCE_START_PORT_PLAN_H
#define UROCE_START_PORT_PLAN_H

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "config/settings.h"
#include "device/port_ops.h"
#include "nic/port_config.h"

namespace uroce::start {

// One entry for each port, in the order of the settings. `present`: the DPDK ports that exist, used
// when the settings name none. An error is one sentence.
absl::StatusOr<std::vector<nic::PortConfig>> plan_ports(const config::Settings& settings,
                                                        const std::vector<std::string>& present);

// Whether an open port has an address of the user's to be reached at: an own port needs one.
// `driver` is ethdev's name. Ports that lead nowhere (net_pcap, net_null) do without. An error is
// one sentence.
absl::Status check_has_address(const device::PortInfo& port, const std::string& driver,
                               const nic::PortConfig& config);

// Queues that the memory rings of --rings need: as many as the port with the most.
uint32_t ring_queue_count(const config::Settings& settings);

}  // namespace uroce::start

#endif  // UROCE_START_PORT_PLAN_H
