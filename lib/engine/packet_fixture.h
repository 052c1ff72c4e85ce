// SPDX-License-Identifier: BSD-3-Clause
// Test support: address vectors, aligned memory and packets of a peer that obeys no rule.
#ifndef UROCE_ENGINE_PACKET_FIXTURE_H
#define UROCE_ENGINE_PACKET_FIXTURE_H

#include <algorithm>
#include <vector>

#include "base/aligned_block_fixture.h"
#include "transport/address_vector.h"
#include "wire/emit.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/ip.h"

namespace uroce::engine {

using Bytes = std::vector<uint8_t>;

inline transport::AddressVector address_vector(const Gid& from, const Gid& to,
                                               const MacAddress& from_mac,
                                               const MacAddress& to_mac) {
  wire::AddressFields fields;
  fields.source = from_mac;
  fields.destination = to_mac;
  fields.sgid = from;
  fields.dgid = to;
  fields.udp_source_port = 0xC123;
  transport::AddressVector av{};
  av.headers = wire::make_header_template(fields);
  av.sgid = from;
  av.dgid = to;
  av.multicast = to.is_multicast();
  av.route = av.multicast ? Route::kBoth : Route::kWire;  // as the device makes it
  return av;
}

inline MacAddress group_mac(const Gid& group) {
  return group.is_ipv4()
             ? MacAddress{{0x01, 0x00, 0x5e, static_cast<uint8_t>(group.bytes[13] & 0x7f),
                           group.bytes[14], group.bytes[15]}}
             : MacAddress{{0x33, 0x33, group.bytes[12], group.bytes[13], group.bytes[14],
                           group.bytes[15]}};
}

// A packet to be forged; of the headers those are sent that the opcode has.
struct Forged {
  wire::Opcode opcode = wire::Opcode::kUdSendOnly;
  Gid source;
  Gid destination;
  MacAddress source_mac{{2, 0, 0, 0, 0, 99}};
  MacAddress destination_mac{};
  Qpn dest_qpn;
  Psn psn;
  uint16_t pkey = wire::kDefaultPkey;
  bool ack_request = false;
  wire::Reth reth{};
  wire::Aeth aeth{};
  wire::Deth deth{};
  Bytes payload{};
  bool spoil_icrc = false;
};

inline Bytes forge(const Forged& f) {
  const transport::AddressVector av =
      address_vector(f.source, f.destination, f.source_mac, f.destination_mac);
  const wire::OpcodeInfo& info = wire::opcode_info(f.opcode);
  const auto size = static_cast<uint32_t>(f.payload.size());
  Bytes frame(wire::HeaderTemplate::kCapacity + 128 + size);
  uint8_t* bth =
      wire::emit_headers(frame.data(), av.headers, wire::ib_length(f.opcode, size), 0x1234);
  wire::Bth header;
  header.opcode = f.opcode;
  header.pad = wire::pad_bytes(size);
  header.pkey = f.pkey;
  header.dest_qpn = f.dest_qpn;
  header.ack_request = f.ack_request;
  header.psn = f.psn;
  header.store(bth);
  if (info.reth != 0) f.reth.store(bth + info.reth);
  if (info.aeth != 0) f.aeth.store(bth + info.aeth);
  if (info.deth != 0) f.deth.store(bth + info.deth);
  std::copy(f.payload.begin(), f.payload.end(), bth + info.header_bytes);
  const auto end = static_cast<uint32_t>(bth + info.header_bytes + size - frame.data());
  frame.resize(wire::finish_icrc(frame.data(), av.headers.l3_offset, av.headers.ipv6, end));
  if (f.spoil_icrc) frame.back() = static_cast<uint8_t>(frame.back() ^ 1);
  return frame;
}

// A UDP payload of any length with BTH fields as far as they fit; the headers before it are right.
// A good ICRC needs room for a BTH.
struct Raw {
  uint32_t length = 0;
  uint8_t opcode = 0;
  uint8_t pad = 0;
  Qpn dest_qpn;
  Psn psn;
  bool good_icrc = true;
};

inline Bytes forge_raw(const Gid& source, const Gid& destination, const Raw& raw) {
  const transport::AddressVector av = address_vector(source, destination, {}, {});
  Bytes frame(wire::HeaderTemplate::kCapacity + 16 + raw.length);
  uint8_t* ib = wire::emit_headers(frame.data(), av.headers, raw.length, 0x1234);
  const auto start = static_cast<uint32_t>(ib - frame.data());
  frame.resize(std::max<size_t>(start + raw.length, wire::HeaderTemplate::kCapacity));
  ib = frame.data() + start;
  Bytes content(raw.length + wire::kBthBytes, 0x5A);
  wire::Bth header;
  header.opcode = static_cast<wire::Opcode>(raw.opcode);
  header.pad = raw.pad;
  header.dest_qpn = raw.dest_qpn;
  header.psn = raw.psn;
  header.ack_request = true;
  header.store(content.data());
  std::copy_n(content.begin(), raw.length, ib);
  frame.resize(start + raw.length);
  if (raw.good_icrc && raw.length >= wire::kBthBytes + wire::kIcrcBytes) {
    const uint32_t covered = start + raw.length - wire::kIcrcBytes - av.headers.l3_offset;
    wire::store_icrc(frame.data() + frame.size() - wire::kIcrcBytes,
                     wire::icrc(frame.data() + av.headers.l3_offset, av.headers.ipv6, covered));
  }
  return frame;
}

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_PACKET_FIXTURE_H
