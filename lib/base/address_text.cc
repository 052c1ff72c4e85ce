// SPDX-License-Identifier: BSD-3-Clause
// Address text by the C library's inet_pton and inet_ntop.
#include "base/address_text.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstdio>

namespace uroce {

std::optional<Gid> parse_address(std::string_view text) {
  const std::string terminated(text);
  in_addr v4;
  if (inet_pton(AF_INET, terminated.c_str(), &v4) == 1) {
    return Gid::from_ipv4(ntohl(v4.s_addr));
  }
  Gid gid;
  if (inet_pton(AF_INET6, terminated.c_str(), gid.bytes.data()) == 1) return gid;
  return std::nullopt;
}

std::optional<Gid> parse_gid(std::string_view text) {
  Gid gid;
  if (text.size() != 2 * gid.bytes.size()) return parse_address(text);
  for (size_t i = 0; i < gid.bytes.size(); ++i) {
    const char* at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, gid.bytes[i], 16);
    if (error != std::errc{} || end != at + 2) return parse_address(text);
  }
  return gid;
}

std::optional<Prefix> parse_prefix(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  const uint8_t longest = address->is_ipv4() ? 32 : 128;
  if (slash == std::string_view::npos) return Prefix{*address, longest};
  const std::string_view digits = text.substr(slash + 1);
  uint8_t length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc{} || end != digits.data() + digits.size() || length > longest) {
    return std::nullopt;
  }
  return Prefix{*address, length};
}

std::optional<MacAddress> parse_mac(std::string_view text) {
  MacAddress mac;
  if (text.size() != 17) return std::nullopt;
  for (size_t i = 0; i < 6; ++i) {
    const char* at = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(at, at + 2, mac.bytes[i], 16);
    if (error != std::errc{} || end != at + 2 || (i < 5 && at[2] != ':')) return std::nullopt;
  }
  return mac;
}

std::string address_text(const Gid& address) {
  char text[INET6_ADDRSTRLEN];
  if (address.is_ipv4()) {
    inet_ntop(AF_INET, address.bytes.data() + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  }
  return text;
}

std::string prefix_text(const Prefix& prefix) {
  return address_text(prefix.address) + "/" + std::to_string(prefix.length);
}

std::string mac_text(const MacAddress& mac) {
  char text[18];
  const auto& b = mac.bytes;
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4],
                b[5]);
  return text;
}

}  // namespace uroce
