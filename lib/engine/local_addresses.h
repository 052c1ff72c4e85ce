// SPDX-License-Identifier: BSD-3-Clause
// The addresses of the port, for one question asked of every frame: is it for us?
#ifndef UROCE_ENGINE_LOCAL_ADDRESSES_H
#define UROCE_ENGINE_LOCAL_ADDRESSES_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "engine/command.h"
#include "wire/parse.h"

namespace uroce::engine {

// A port has a handful of addresses, so they are compared one after the other.
class LocalAddresses {
 public:
  static constexpr size_t kMax = 256;

  // False when there are too many; then nothing has changed.
  bool set(std::span<const LocalAddress> addresses) {
    if (addresses.size() > kMax) return false;
    count_ = addresses.size();
    for (size_t i = 0; i < count_; ++i) addresses_[i] = addresses[i].address;
    return true;
  }
  bool is_destination_of(const wire::ParsedFrame& frame) const {
    return std::any_of(addresses_.begin(), addresses_.begin() + static_cast<ptrdiff_t>(count_),
                       [&](const Gid& address) { return frame.destination_is(address); });
  }

 private:
  size_t count_ = 0;
  std::array<Gid, kMax> addresses_{};
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_LOCAL_ADDRESSES_H
