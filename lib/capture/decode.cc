// SPDX-License-Identifier: BSD-3-Clause
// Decoding captures: reader, verdict and line put together, and the C entry point.
#include "capture/decode.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "capture/reader.h"
#include "uroce/decode.h"
#include "wire/arp.h"
#include "wire/format.h"
#include "wire/icmp.h"
#include "wire/icrc.h"
#include "wire/igmp.h"
#include "wire/mld.h"
#include "wire/nd.h"

namespace uroce::capture {
namespace {

using wire::Drop;
using wire::FrameKind;

wire::ParseOptions any_vlan() {
  wire::ParseOptions options;
  options.vlan_id = wire::kVlanAny;
  return options;
}

Drop judge_roce(std::span<const uint8_t> frame, const wire::L3Info& info,
                const wire::ParseOptions& options) {
  wire::ParsedFrame packet;
  const Drop drop = wire::parse_roce(frame, info, options, packet);
  if (drop != Drop::kNone) return drop;
  return wire::icrc_ok(packet) ? Drop::kNone : Drop::kIcrc;
}

Drop judge_membership(std::span<const uint8_t> frame, const wire::L3Info& info,
                      const wire::ParseOptions& options) {
  wire::MembershipMessage message;
  return info.kind == FrameKind::kIgmp ? wire::parse_igmp(frame, info, options, message)
                                       : wire::parse_mld(frame, info, options, message);
}

Drop judge_link(std::span<const uint8_t> frame, const wire::L3Info& info,
                const wire::ParseOptions& options) {
  if (info.kind == FrameKind::kArp) {
    wire::ArpMessage arp;
    return wire::parse_arp(frame, info, arp);
  }
  if (info.kind == FrameKind::kNd) {
    wire::NdMessage nd;
    return wire::parse_nd(frame, info, options, nd);
  }
  if (info.kind == FrameKind::kIgmp || info.kind == FrameKind::kMld) {
    return judge_membership(frame, info, options);
  }
  wire::IcmpMessage icmp;
  return wire::parse_icmp(frame, info, options, icmp);
}

// True for what is wrong with a frame of any protocol; other reasons only say that it is not ours.
bool is_damage(Drop why_not_roce) {
  switch (why_not_roce) {
    case Drop::kEmptyFrame:
    case Drop::kFrameShort:
    case Drop::kIpVersion:
    case Drop::kIpHeader:
    case Drop::kFrameCut:
      return true;
    default:
      return false;
  }
}

void count(const Verdict& verdict, DecodeSummary& summary) {
  ++summary.frames;
  summary.roce += verdict.frame_class == FrameClass::kRoce;
  summary.link += verdict.frame_class == FrameClass::kLink;
  summary.other += verdict.frame_class == FrameClass::kOther;
  summary.bad += verdict.fault != Drop::kNone;
  if (verdict.fault != Drop::kNone) ++summary.faults[static_cast<size_t>(verdict.fault)];
}

// Writes the line of a frame with the ICRC's verdict at its end.
void write_line(std::span<char> line, const CapturedFrame& frame, const Verdict& verdict) {
  size_t at = wire::format_frame(line.data(), line.size(), frame.bytes, any_vlan());
  const auto append = [&](const char* text) {
    if (at < line.size()) std::snprintf(line.data() + at, line.size() - at, "%s", text);
    at += std::strlen(text);
  };
  if (verdict.frame_class == FrameClass::kRoce) {
    if (verdict.fault == Drop::kNone) append(" ICRC ok");
    if (verdict.fault == Drop::kIcrc) append(" ICRC bad");
  }
  if (frame.bytes.size() < frame.wire_bytes) append(" (capture kept the beginning only)");
}

}  // namespace

Verdict judge_frame(std::span<const uint8_t> frame) {
  const wire::ParseOptions options = any_vlan();
  wire::L3Info info;
  switch (wire::classify(frame, options, info)) {
    case FrameKind::kRoce:
      return {FrameClass::kRoce, judge_roce(frame, info, options)};
    case FrameKind::kOther:
      return {FrameClass::kOther, is_damage(info.not_roce) ? info.not_roce : Drop::kNone};
    default:
      return {FrameClass::kLink, judge_link(frame, info, options)};
  }
}

int decode_file(const char* path, DecodeSink sink, void* context, DecodeSummary& summary,
                std::span<char> error) {
  summary = {};
  CaptureReader reader;
  const int opened = reader.open(path);
  if (opened != 0) {
    std::snprintf(error.data(), error.size(), "%s", reader.error());
    return opened;
  }
  char line[wire::kFrameLineBytes + 64];
  CapturedFrame frame;
  CaptureReader::Result result;
  while ((result = reader.next(frame)) == CaptureReader::Result::kFrame) {
    const Verdict verdict = judge_frame(frame.bytes);
    count(verdict, summary);
    write_line(line, frame, verdict);
    sink(context, {reader.number(), frame.time_ns, static_cast<uint32_t>(frame.bytes.size()),
                   frame.wire_bytes, line, verdict});
  }
  if (result == CaptureReader::Result::kEnd) return 0;
  std::snprintf(error.data(), error.size(), "%s", reader.error());
  return -EIO;
}

}  // namespace uroce::capture

namespace {

struct CallerSink {
  uroce_decode_frame_fn call;
  void* context;
};

void give_to_caller(void* context, const uroce::capture::DecodedFrame& frame) {
  const auto* sink = static_cast<const CallerSink*>(context);
  if (sink->call == nullptr) return;
  const bool bad = frame.verdict.fault != uroce::wire::Drop::kNone;
  uroce_decoded_frame out{};
  out.number = frame.number;
  out.time_ns = frame.time_ns;
  out.kept_bytes = frame.kept_bytes;
  out.wire_bytes = frame.wire_bytes;
  out.line = frame.line;
  out.fault = bad ? uroce::wire::drop_name(frame.verdict.fault) : nullptr;
  out.explanation = bad ? uroce::wire::drop_explanation(frame.verdict.fault) : nullptr;
  sink->call(sink->context, &out);
}

}  // namespace

extern "C" int uroce_decode_capture(const char* path, uroce_decode_frame_fn on_frame, void* context,
                                    struct uroce_decode_summary* summary, char* error,
                                    size_t error_bytes) {
  char unread = '\0';
  const std::span<char> room =
      error != nullptr && error_bytes != 0 ? std::span(error, error_bytes) : std::span(&unread, 1);
  CallerSink sink{on_frame, context};
  uroce::capture::DecodeSummary counted;
  const int result = uroce::capture::decode_file(path, give_to_caller, &sink, counted, room);
  if (summary != nullptr) {
    summary->frames = counted.frames;
    summary->roce = counted.roce;
    summary->link = counted.link;
    summary->other = counted.other;
    summary->bad = counted.bad;
  }
  return result;
}
