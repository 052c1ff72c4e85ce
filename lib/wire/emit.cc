// SPDX-License-Identifier: BSD-3-Clause
// Templates of RoCEv2 headers, and the end of a frame.
#include "wire/emit.h"

#include <smmintrin.h>

#include "base/assert.h"
#include "wire/icrc_masks.h"

namespace uroce::wire {
namespace {

// A 16-bit field of a vector, given in host order.
template <int kLane>
__m128i with_be16(__m128i vector, uint16_t value) {
  return _mm_insert_epi16(vector, __builtin_bswap16(value), kLane);
}

// A 32-bit field of a vector, given in host order.
template <int kLane>
__m128i with_be32(__m128i vector, uint32_t value) {
  return _mm_insert_epi32(vector, static_cast<int>(__builtin_bswap32(value)), kLane);
}

// The headers of a packet as the ICRC wants them: in vectors from eight bytes before the IP header
// on. The last four bytes of an IPv6 packet's BTH are beyond them.
struct HeaderVectors {
  __m128i v0;
  __m128i v1;
  __m128i v2;
  __m128i v3;  // IPv6 only
};

// Writes the headers and the BTH. The first 16 bytes of the frame overlap the first vector.
inline HeaderVectors store_headers(uint8_t* room, const HeaderTemplate& t, uint32_t ib_bytes,
                                   uint16_t ip_id, const BthWords& bth) {
  const uint8_t* from = t.bytes + t.l3_offset;
  uint8_t* l3 = room + t.l3_offset;
  const auto udp_bytes = static_cast<uint16_t>(kUdpBytes + ib_bytes);
  store_vector(room, load_vector(t.bytes));
  HeaderVectors v{load_vector(from - 8), load_vector(from + 8), load_vector(from + 24), {}};
  if (t.ipv6) {
    v.v0 = with_be16<6>(v.v0, udp_bytes);                    // payload length at offset 4
    v.v3 = with_be16<2>(load_vector(from + 40), udp_bytes);  // UDP length at offset 44
    v.v3 = with_be32<2>(v.v3, bth.word0);
    v.v3 = with_be32<3>(v.v3, bth.word1);
    store_vector(l3 + 40, v.v3);
    store_be32(l3 + 56, bth.word2);
  } else {
    const auto total = static_cast<uint16_t>(kIpv4Bytes + udp_bytes);
    const uint16_t checksum = ipv4_checksum(t, __builtin_bswap16(total), __builtin_bswap16(ip_id));
    v.v0 = with_be16<5>(v.v0, total);            // at offset 2
    v.v0 = with_be16<6>(v.v0, ip_id);            // at offset 4
    v.v1 = _mm_insert_epi16(v.v1, checksum, 1);  // at offset 10, in memory order already
    v.v2 = with_be16<0>(v.v2, udp_bytes);        // UDP length at offset 24
    v.v2 = with_be32<1>(v.v2, bth.word0);
    v.v2 = with_be32<2>(v.v2, bth.word1);
    v.v2 = with_be32<3>(v.v2, bth.word2);
  }
  store_vector(l3 - 8, v.v0);
  store_vector(l3 + 8, v.v1);
  store_vector(l3 + 24, v.v2);
  return v;
}

}  // namespace

uint32_t emit_and_crc(uint8_t* room, const HeaderTemplate& t, uint32_t ib_bytes, uint16_t ip_id,
                      const BthWords& bth, uint32_t rest_bytes) {
  const HeaderVectors v = store_headers(room, t, ib_bytes, ip_id, bth);
  const uint8_t* l3 = room + t.l3_offset;
  if (t.ipv6) return crc_of_packet6(v.v0, v.v1, v.v2, v.v3, l3 + 56, rest_bytes + 4);
  return crc_of_packet4(v.v0, v.v1, v.v2, l3 + 40, rest_bytes);
}

void emit_bth(uint8_t* room, const HeaderTemplate& t, uint32_t ib_bytes, uint16_t ip_id,
              const BthWords& bth) {
  store_headers(room, t, ib_bytes, ip_id, bth);
}

HeaderTemplate make_header_template(const AddressFields& fields) {
  HeaderTemplate t{};
  t.ipv6 = !fields.dgid.is_ipv4();
  UROCE_ASSERT(t.ipv6 == !fields.sgid.is_ipv4());
  const EthernetFields ethernet{fields.source, fields.destination, fields.vlan, fields.vlan_tci};
  const uint32_t l3_offset =
      store_ethernet(t.bytes, ethernet, t.ipv6 ? kEthertypeIpv6 : kEthertypeIpv4);
  IpFields ip;
  ip.source = fields.sgid;
  ip.destination = fields.dgid;
  ip.traffic_class = fields.traffic_class;
  ip.hop_limit = fields.hop_limit;
  ip.flow_label = fields.flow_label;
  uint8_t* l3 = t.bytes + l3_offset;
  const uint32_t ip_bytes = store_ip(l3, ip, 0);
  if (t.ipv6) {
    std::memset(l3 + 4, 0, 2);
  } else {
    std::memset(l3 + 2, 0, 2);
    std::memset(l3 + 10, 0, 2);
    t.ipv4_partial_sum = checksum_fold(checksum_add(0, l3, kIpv4Bytes));
  }
  store_be16(l3 + ip_bytes, fields.udp_source_port);
  store_be16(l3 + ip_bytes + 2, kRoceUdpPort);
  t.l3_offset = static_cast<uint8_t>(l3_offset);
  t.length = static_cast<uint8_t>(l3_offset + ip_bytes + kUdpBytes);
  return t;
}

uint32_t finish_icrc(uint8_t* frame, uint32_t l3_offset, bool ipv6, uint32_t end) {
  const uint32_t bth = l3_offset + (ipv6 ? kIpv6Bytes : kIpv4Bytes) + kUdpBytes;
  const uint8_t pad = pad_bytes(end - bth);
  store_pad(frame + end);
  const uint32_t covered = end + pad - l3_offset;
  store_icrc(frame + end + pad, icrc(frame + l3_offset, ipv6, covered));
  return end + pad + kIcrcBytes;
}

uint32_t finish_tail(IcrcState state, uint8_t* tail, uint8_t pad) {
  store_pad(tail);
  store_icrc(tail + pad, icrc_value(icrc_update(state, tail, pad)));
  return pad + kIcrcBytes;
}

}  // namespace uroce::wire
