// SPDX-License-Identifier: BSD-3-Clause
// Reading the header before a received datagram.
#include "wire/datagram_header.h"

#include <cstring>

#include "base/bytes.h"
#include "wire/checksum.h"

namespace uroce::wire {
namespace {

constexpr uint32_t kIpv4Offset = kIpv6Bytes - kIpv4Bytes;

bool checksum_is_right(const uint8_t* ipv4) {
  uint8_t expected[2];
  store_checksum(expected, checksum_add(checksum_add(0, ipv4, 10), ipv4 + 12, kIpv4Bytes - 12));
  return std::memcmp(expected, ipv4 + 10, sizeof expected) == 0;
}

}  // namespace

int datagram_header_version(const uint8_t* header) {
  const uint8_t* const ipv4 = header + kIpv4Offset;
  if (header[0] >> 4 != 6) return ipv4[0] >> 4 == 4 ? 4 : 0;
  if ((ipv4[0] & 0xF) != 5) return 6;
  return checksum_is_right(ipv4) ? 4 : 6;
}

IpFields load_datagram_header(const uint8_t* header, int version) {
  IpFields fields;
  if (version == 4) {
    const uint8_t* const ipv4 = header + kIpv4Offset;
    fields.traffic_class = ipv4[1];
    fields.hop_limit = ipv4[8];
    fields.protocol = ipv4[9];
    fields.source = load_address(ipv4 + 12, false);
    fields.destination = load_address(ipv4 + 16, false);
    return fields;
  }
  const uint32_t word = load_be32(header);
  fields.traffic_class = static_cast<uint8_t>(word >> 20);
  fields.flow_label = word & 0xFFFFF;
  fields.protocol = header[6];
  fields.hop_limit = header[7];
  fields.source = load_address(header + 8, true);
  fields.destination = load_address(header + 24, true);
  return fields;
}

}  // namespace uroce::wire
