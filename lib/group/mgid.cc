// SPDX-License-Identifier: BSD-3-Clause
// The MAC address and the text of a group.
#include "group/mgid.h"

#include <arpa/inet.h>

#include <cstring>

#include "base/assert.h"
#include "wire/ip.h"

namespace uroce::group {

MacAddress mac_of(const Gid& mgid) {
  UROCE_DEBUG_ASSERT(is_valid_mgid(mgid));
  return wire::multicast_mac(mgid);
}

MgidText mgid_text(const Gid& mgid) {
  MgidText out{};
  const bool ipv4 = mgid.is_ipv4();
  const char* made = inet_ntop(ipv4 ? AF_INET : AF_INET6, mgid.bytes.data() + (ipv4 ? 12 : 0),
                               out.text.data(), static_cast<socklen_t>(out.text.size()));
  UROCE_ASSERT(made != nullptr);
  return out;
}

std::optional<Gid> parse_mgid(std::string_view text) {
  char terminated[46] = {};
  if (text.size() >= sizeof terminated) return std::nullopt;
  std::memcpy(terminated, text.data(), text.size());
  Gid gid;
  if (inet_pton(AF_INET, terminated, gid.bytes.data() + 12) == 1) {
    gid.bytes[10] = gid.bytes[11] = 0xff;
  } else if (inet_pton(AF_INET6, terminated, gid.bytes.data()) != 1) {
    return std::nullopt;
  }
  if (!is_valid_mgid(gid)) return std::nullopt;
  return gid;
}

}  // namespace uroce::group
