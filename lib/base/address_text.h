// SPDX-License-Identifier: BSD-3-Clause
// Addresses as people write them: IPv4, IPv6 and MAC text to bytes and back. Control path only.
#ifndef UROCE_BASE_ADDRESS_TEXT_H
#define UROCE_BASE_ADDRESS_TEXT_H

#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace uroce {

// An address with the length of its network prefix, counted in its own family (0 … 32 or 0 … 128).
struct Prefix {
  Gid address;
  uint8_t length = 0;
  bool operator==(const Prefix&) const = default;
};

// "10.0.0.1" or "fd00::1". An IPv4-mapped IPv6 text gives the IPv4 address.
std::optional<Gid> parse_address(std::string_view text);
// A GID: an address as above, or its 32 hexadecimal digits without anything between them.
std::optional<Gid> parse_gid(std::string_view text);
// "10.0.0.1/24"; without a slash the whole address is the prefix.
std::optional<Prefix> parse_prefix(std::string_view text);
// "02:00:00:00:00:01".
std::optional<MacAddress> parse_mac(std::string_view text);

std::string address_text(const Gid& address);
std::string prefix_text(const Prefix& prefix);
std::string mac_text(const MacAddress& mac);

}  // namespace uroce

#endif  // UROCE_BASE_ADDRESS_TEXT_H
