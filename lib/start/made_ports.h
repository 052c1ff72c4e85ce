// SPDX-License-Identifier: BSD-3-Clause
// Ports that EAL is told to make because the settings describe them: net_af_packet,iface=eth1.
#ifndef UROCE_START_MADE_PORTS_H
#define UROCE_START_MADE_PORTS_H

#include <absl/status/status.h>

#include <string>

#include "config/settings.h"

namespace uroce::start {

// Adds to a port with driver arguments what its user left out and path MTU 4096 needs, as far as
// the link carries it: the ring of net_af_packet (framesz, blocksz, framecnt), the buffers of
// net_memif (bsize) and the MTU. `interface_mtu`: of the kernel interface `iface`; 0: it has none.
absl::Status complete_port(config::PortSettings& port, uint32_t interface_mtu);
// The same of all ports, whose interfaces are looked at. kNotFound: there is no such interface.
absl::Status complete_ports(config::Settings& settings);

// EAL's argument that makes or finds a port: --vdev=NAME,… or, of a PCI address, --allow=ADDRESS.
// Empty: not a name of either kind, or one of --rings.
std::string eal_argument(const config::PortSettings& port);
bool is_pci(const config::PortSettings& port);

}  // namespace uroce::start

#endif  // UROCE_START_MADE_PORTS_H
