// SPDX-License-Identifier: BSD-3-Clause
// The addresses of the port, for one question asked of every frame: is it for us?
#ifndef UROCE_ENGINE_LOCAL_ADDRESSES_H
#define UROCE_ENGINE_LOCAL_ADDRESSES_H

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/types.h"
#include "engine/command.h"
#include "wire/parse.h"

namespace uroce::engine {

// A port has a handful of addresses, so they are compared one after the other; those of the two IP
// versions apart, IPv4 ones as they lie in a packet.
class LocalAddresses {
 public:
  static constexpr size_t kMax = 256;

  // False when there are too many; then nothing has changed.
  bool set(std::span<const LocalAddress> addresses) {
    if (addresses.size() > kMax) return false;
    ipv4_count_ = ipv6_count_ = 0;
    for (const LocalAddress& local : addresses) {
      if (local.address.is_ipv4()) {
        ipv4_[ipv4_count_++] = load_raw<uint32_t>(local.address.bytes.data() + 12);
      } else {
        ipv6_[ipv6_count_++] = local.address;
      }
    }
    return true;
  }
  bool is_destination_of(const wire::ParsedFrame& frame) const {
    if (frame.ipv6) {
      for (size_t i = 0; i < ipv6_count_; ++i) {
        if (frame.destination_is(ipv6_[i])) return true;
      }
      return false;
    }
    const auto destination = load_raw<uint32_t>(frame.l3() + 16);
    for (size_t i = 0; i < ipv4_count_; ++i) {
      if (ipv4_[i] == destination) return true;
    }
    return false;
  }

 private:
  size_t ipv4_count_ = 0;
  size_t ipv6_count_ = 0;
  std::array<uint32_t, kMax> ipv4_{};
  std::array<Gid, kMax> ipv6_{};
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_LOCAL_ADDRESSES_H
