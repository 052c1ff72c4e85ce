// SPDX-License-Identifier: BSD-3-Clause
// The invariant CRC of RoCEv2 (IBA annex A17): CRC-32 over the packet with its variable fields
// masked.
//
// Covered are eight bytes of ones (they stand for the LRH), then the packet from the IP header to
// the last pad byte, with these fields read as ones: IPv4 TOS, TTL and header checksum; IPv6
// traffic class, flow label and hop limit; the UDP checksum; byte 4 of the BTH. The CRC is that of
// Ethernet (zlib's crc32), stored least significant byte first.
//
// In pieces: icrc_begin() runs over the masked headers up to the end of the BTH; the extension
// headers, payload and pad follow in as many icrc_update() as there are pieces; icrc_value() is
// what is stored.
#ifndef UROCE_WIRE_ICRC_H
#define UROCE_WIRE_ICRC_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/parse.h"

namespace uroce::wire {

// The CRC so far, in zlib's form: complement already applied, so it chains from call to call.
struct IcrcState {
  uint32_t crc;
};

// The state over eight bytes of ones.
inline constexpr uint32_t kIcrcAfterOnes = 0x2144DF1C;

// Begins with the headers at l3 up to and including the BTH: 40 bytes (IPv4) or 60 (IPv6).
IcrcState icrc_begin(const uint8_t* l3, bool ipv6);
// Goes on over n bytes as they are.
IcrcState icrc_update(IcrcState state, const uint8_t* from, size_t n);
// Copies n bytes and goes on over them, a cache-sized piece at a time, so that memory is read
// once. The CRC is taken over the copy: it fits what is sent even if the source changes meanwhile.
// The areas do not overlap.
IcrcState icrc_copy(IcrcState state, uint8_t* to, const uint8_t* from, size_t n);
// The same with the CRC over the source: for received bytes on their way into memory that their
// owner may write to meanwhile.
IcrcState icrc_copy_received(IcrcState state, uint8_t* to, const uint8_t* from, size_t n);
inline uint32_t icrc_value(IcrcState state) { return state.crc; }

// Writes an ICRC as it goes on the wire.
inline void store_icrc(uint8_t* to, uint32_t value) { std::memcpy(to, &value, sizeof value); }
// Reads an ICRC from the wire.
inline uint32_t load_icrc(const uint8_t* from) { return load_raw<uint32_t>(from); }

// The ICRC of a packet in one piece: `covered_bytes` from the IP header to the last pad byte; at
// least up to the end of the BTH (40 or 60).
uint32_t icrc(const uint8_t* l3, bool ipv6, uint32_t covered_bytes);

// True when the packet's ICRC is right.
bool icrc_ok(const ParsedFrame& packet);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_ICRC_H
