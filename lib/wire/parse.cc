// SPDX-License-Identifier: BSD-3-Clause
// Parsing RoCEv2 frames of any layout.
#include "wire/parse.h"

#include "wire/parse_plain.h"

namespace uroce::wire {
namespace {

parse_steps::Layout layout_of(const L3Info& info) {
  return {info.l3_offset, info.l4_offset, info.ipv6};
}

}  // namespace

Drop parse_roce(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
                ParsedFrame& out) {
  out.has_vlan = info.has_vlan;
  out.vlan_tci = info.vlan_tci;
  return parse_steps::parse_at(frame, layout_of(info), options, out);
}

Drop parse_roce(std::span<const uint8_t> frame, const ParseOptions& options, ParsedFrame& out) {
  if (is_plain_roce(frame, options)) return parse_plain_roce(frame, options, out);
  L3Info info;
  if (classify(frame, options, info) != FrameKind::kRoce) return info.not_roce;
  return parse_roce(frame, info, options, out);
}

Drop check_ip(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
              std::span<const uint8_t>& payload) {
  uint32_t ip_length = 0;
  const Drop drop = parse_steps::check_ip_header(frame, layout_of(info), options, ip_length);
  if (drop != Drop::kNone) return drop;
  payload = frame.subspan(info.l4_offset, ip_length - (info.l4_offset - info.l3_offset));
  return Drop::kNone;
}

}  // namespace uroce::wire
