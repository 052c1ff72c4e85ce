// SPDX-License-Identifier: BSD-3-Clause
// Any bytes through the parsers of a received frame: no read outside the frame, and what is taken
// holds together.
//
// The first byte of the input picks the options, the rest is the frame. It is copied to a heap
// block of exactly its size, so that AddressSanitizer sees the first byte read too far.
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "base/assert.h"
#include "wire/icrc.h"
#include "wire/parse.h"

namespace {

using uroce::wire::Drop;

void check_packet(std::span<const uint8_t> frame, const uroce::wire::ParsedFrame& packet) {
  const uint8_t* end = frame.data() + frame.size();
  UROCE_ASSERT(packet.info != nullptr);
  UROCE_ASSERT(packet.bth > packet.l3() && packet.payload >= packet.bth);
  UROCE_ASSERT(packet.icrc() + 4 <= end);
  UROCE_ASSERT(packet.payload + packet.payload_length + packet.pad == packet.icrc());
  UROCE_ASSERT(packet.source_is(packet.source()));
  UROCE_ASSERT(packet.destination_is(packet.destination()));
  (void)uroce::wire::icrc_ok(packet);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  uroce::wire::ParseOptions options;
  if ((data[0] & 1) != 0) options.vlan_id = uroce::wire::kVlanAny;
  if ((data[0] & 2) != 0) options.ip_checksum = uroce::wire::ChecksumVerdict::kGood;
  if ((data[0] & 4) != 0) options.udp_checksum = uroce::wire::ChecksumVerdict::kIgnore;
  options.vlan_stripped = (data[0] & 8) != 0;

  const auto bytes = std::make_unique<uint8_t[]>(size - 1);
  std::memcpy(bytes.get(), data + 1, size - 1);
  const std::span<const uint8_t> frame(bytes.get(), size - 1);

  uroce::wire::L3Info info;
  const auto kind = uroce::wire::classify(frame, options, info);
  UROCE_ASSERT((kind == uroce::wire::FrameKind::kRoce) == (info.not_roce == Drop::kNone));
  if (kind != uroce::wire::FrameKind::kOther && kind != uroce::wire::FrameKind::kArp) {
    UROCE_ASSERT(info.l4_offset <= frame.size());
    std::span<const uint8_t> payload;
    (void)uroce::wire::check_ip(frame, info, options, payload);
  }
  uroce::wire::ParsedFrame packet;
  if (uroce::wire::parse_roce(frame, options, packet) == Drop::kNone) check_packet(frame, packet);
  return 0;
}
