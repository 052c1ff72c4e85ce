// SPDX-License-Identifier: BSD-3-Clause
// Building RoCEv2 frames: a template of everything up to the UDP header, made once for a peer, and
// the few fields of it that change from packet to packet.
//
// Three ways to make a frame, the last for tests and rare packets:
//  - seal_packet(): extension headers and payload are in place; it writes everything else. Copying
//    and CRC are two passes over the payload.
//  - emit_begin(), the extension headers and icrc_update() over them, icrc_copy() of the payload,
//    finish_tail(): copying and CRC in one pass.
//  - emit_headers(), the BTH, extension headers, payload, then finish_icrc() over all of it.
#ifndef UROCE_WIRE_EMIT_H
#define UROCE_WIRE_EMIT_H

#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/types.h"
#include "wire/checksum.h"
#include "wire/icrc.h"
#include "wire/ip.h"

namespace uroce::wire {

// Who a packet goes to and how. The GIDs are both IPv4-mapped or both not.
struct AddressFields {
  MacAddress source;
  MacAddress destination;
  bool vlan = false;  // write a tag into the frame
  uint16_t vlan_tci = 0;
  Gid sgid;
  Gid dgid;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 64;
  uint32_t flow_label = 0;  // 20 bits, IPv6 only
  uint16_t udp_source_port = 0;
};

// The headers Ethernet … UDP with lengths, IPv4 id and IPv4 checksum zero, UDP checksum 0.
struct HeaderTemplate {
  static constexpr uint32_t kCapacity = 80;
  alignas(8) uint8_t bytes[kCapacity];
  uint32_t ipv4_partial_sum;  // of the IPv4 header as it stands in bytes
  uint8_t length;             // of the headers: where the BTH goes
  uint8_t l3_offset;          // 14, or 18 with a VLAN tag
  bool ipv6;
};

// Makes a template from its fields.
HeaderTemplate make_header_template(const AddressFields& fields);

// The IPv4 header checksum for a total length and an identification; all three as they lie in
// memory.
inline uint16_t ipv4_checksum(const HeaderTemplate& t, uint16_t total, uint16_t id) {
  uint32_t sum = t.ipv4_partial_sum + total + id;
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

// Writes the headers of a packet whose part from BTH to ICRC, both included, is `ib_bytes` long.
// `ip_id` is the IPv4 identification. At least HeaderTemplate::kCapacity bytes of room are written
// to; those behind t.length are scratch and to be overwritten. Returns where the BTH goes.
inline uint8_t* emit_headers(uint8_t* room, const HeaderTemplate& t, uint32_t ib_bytes,
                             uint16_t ip_id) {
  std::memcpy(room, t.bytes, HeaderTemplate::kCapacity);
  uint8_t* l3 = room + t.l3_offset;
  const uint32_t udp_bytes = kUdpBytes + ib_bytes;
  if (t.ipv6) {
    store_be16(l3 + 4, static_cast<uint16_t>(udp_bytes));
    store_be16(l3 + kIpv6Bytes + 4, static_cast<uint16_t>(udp_bytes));
  } else {
    const uint16_t total = __builtin_bswap16(static_cast<uint16_t>(kIpv4Bytes + udp_bytes));
    const uint16_t id = __builtin_bswap16(ip_id);
    const uint16_t checksum = ipv4_checksum(t, total, id);
    std::memcpy(l3 + 2, &total, sizeof total);
    std::memcpy(l3 + 4, &id, sizeof id);
    std::memcpy(l3 + 10, &checksum, sizeof checksum);
    store_be16(l3 + kIpv4Bytes + 4, static_cast<uint16_t>(udp_bytes));
  }
  return room + t.length;
}

// Writes the headers and the BTH of such a packet and returns the CRC over them and over
// `rest_bytes` that lie behind them already. Exactly t.length + 12 bytes are written.
uint32_t emit_and_crc(uint8_t* room, const HeaderTemplate& t, uint32_t ib_bytes, uint16_t ip_id,
                      const BthWords& bth, uint32_t rest_bytes);
// The same without the CRC.
void emit_bth(uint8_t* room, const HeaderTemplate& t, uint32_t ib_bytes, uint16_t ip_id,
              const BthWords& bth);

// Writes the headers and the BTH of such a packet and returns the ICRC's state behind them, without
// reading back what was just written. Exactly t.length + 12 bytes are written: what is already in
// place behind them, extension headers and payload, stays.
inline IcrcState emit_begin(uint8_t* room, const HeaderTemplate& t, uint32_t ib_bytes,
                            uint16_t ip_id, const Bth& bth) {
  return {emit_and_crc(room, t, ib_bytes, ip_id, bth.words(), 0)};
}

// Bytes of pad that a payload of this length needs.
constexpr uint8_t pad_bytes(uint32_t payload_bytes) {
  return static_cast<uint8_t>((0u - payload_bytes) & 3);
}

// The length from BTH to ICRC of a packet with this opcode and payload: what emit_headers() wants.
inline uint32_t ib_length(Opcode opcode, uint32_t payload_bytes) {
  return opcode_info(opcode).header_bytes + payload_bytes + pad_bytes(payload_bytes) + kIcrcBytes;
}

// Writes the pad, however long: where it goes, the four bytes of the ICRC follow at once, so four
// may be written.
inline void store_pad(uint8_t* to) { std::memset(to, 0, kIcrcBytes); }

// Completes a frame whose headers and payload are in place: `end` is the offset behind the payload.
// Writes the pad (zero bytes up to a multiple of 4 from the BTH) and the ICRC there; returns the
// length of the frame. The BTH's pad count is the caller's to have set.
uint32_t finish_icrc(uint8_t* frame, uint32_t l3_offset, bool ipv6, uint32_t end);

// Completes a packet whose extension headers and payload lie in the room from t.length + 12 up to
// `end`: writes the headers in front of them, the BTH, the pad that bth.pad says and the ICRC.
// Returns the length of the frame.
inline uint32_t seal_packet(uint8_t* room, const HeaderTemplate& t, uint16_t ip_id, const Bth& bth,
                            uint32_t end) {
  store_pad(room + end);
  end += bth.pad;
  store_icrc(room + end, emit_and_crc(room, t, end + kIcrcBytes - t.length, ip_id, bth.words(),
                                      end - (t.length + kBthBytes)));
  return end + kIcrcBytes;
}

// A packet that is whole but for its ICRC. The long chain of dependent instructions that the ICRC
// of a short packet is overlaps with that of the next one, when several are done one after the
// other; and what was just written has reached the cache by then.
struct UnsealedPacket {
  uint8_t* l3;
  uint32_t covered_bytes;
  bool ipv6;

  void seal() const { store_icrc(l3 + covered_bytes, icrc(l3, ipv6, covered_bytes)); }
};

// As seal_packet(), but leaves the ICRC to packet.seal(). Returns the length of the frame.
inline uint32_t emit_unsealed(uint8_t* room, const HeaderTemplate& t, uint16_t ip_id,
                              const Bth& bth, uint32_t end, UnsealedPacket& packet) {
  store_pad(room + end);
  end += bth.pad;
  emit_bth(room, t, end + kIcrcBytes - t.length, ip_id, bth.words());
  packet = {room + t.l3_offset, end - t.l3_offset, t.ipv6};
  return end + kIcrcBytes;
}

// The same when the CRC has run along: writes `pad` zero bytes and the ICRC at `tail`; returns how
// many bytes that were.
uint32_t finish_tail(IcrcState state, uint8_t* tail, uint8_t pad);

// Writes the 16 reserved bytes of a CNP behind its BTH.
inline void store_cnp_body(uint8_t* to) { std::memset(to, 0, kCnpReservedBytes); }

}  // namespace uroce::wire

#endif  // UROCE_WIRE_EMIT_H
