// SPDX-License-Identifier: BSD-3-Clause
// The width and speed of a link, as verbs tell them, from its rate.
#ifndef UROCE_DEVICE_LINK_RATE_H
#define UROCE_DEVICE_LINK_RATE_H

#include <cstdint>

namespace uroce::device {

// The values of ib_port_width and ib_port_speed.
struct LinkRate {
  uint8_t width = 0;
  uint16_t speed = 0;
};

// Lanes are unknown on a virtual port: the smallest width and speed that give `mbps` or more, as
// the kernel does it; the largest there is for more than that. 0, unknown: the smallest.
LinkRate link_rate(uint32_t mbps);

}  // namespace uroce::device

#endif  // UROCE_DEVICE_LINK_RATE_H
