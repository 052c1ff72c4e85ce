// SPDX-License-Identifier: BSD-3-Clause
// What a port should have filtered out by MAC address, where it cannot.
#ifndef UROCE_ENGINE_PORT_FILTER_H
#define UROCE_ENGINE_PORT_FILTER_H

#include <cstdint>

#include "base/bytes.h"
#include "base/types.h"
#include "wire/drop.h"
#include "wire/ethernet.h"
#include "wire/frame.h"

namespace uroce::engine {

class PortFilter {
 public:
  // `own_port`: no kernel sends on it. `filters_nothing`: it lets frames for any address through.
  // A port without a MAC address is not judged.
  PortFilter(const MacAddress& mac, bool own_port, bool filters_nothing)
      : by_source_(!own_port && !mac.is_zero()),
        by_destination_(filters_nothing && !mac.is_zero()),
        mac_(word(mac.bytes.data())) {}

  wire::Drop judge(const RxFrame& frame) const {
    if (!by_source_ && !by_destination_) return wire::Drop::kNone;
    if (frame.looped || frame.length < wire::kEthernetBytes) return wire::Drop::kNone;
    // A shared port's ring also shows what its kernel sends.
    if (by_source_ && word(frame.bytes + 6) == mac_) return wire::Drop::kOwnSourceMac;
    if (!by_destination_ || (frame.bytes[0] & 1) != 0) return wire::Drop::kNone;
    return word(frame.bytes) == mac_ ? wire::Drop::kNone : wire::Drop::kNotForUs;
  }

 private:
  // The six bytes of an address as one number.
  static uint64_t word(const uint8_t* mac) {
    return load_raw<uint32_t>(mac) | uint64_t{load_raw<uint16_t>(mac + 4)} << 32;
  }

  const bool by_source_;
  const bool by_destination_;
  const uint64_t mac_;
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_PORT_FILTER_H
