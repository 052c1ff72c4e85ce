// SPDX-License-Identifier: BSD-3-Clause
// Decoding captures: verdicts, lines and counts, and the C entry point.
#include "capture/decode.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "capture/test_file.h"
#include "capture/writer.h"
#include "uroce/decode.h"
#include "wire/arp.h"
#include "wire/igmp.h"
#include "wire/test_packets.h"

namespace uroce::capture {
namespace {

using testing::TestFile;
using wire::Drop;
using wire::testing::frame_of;
using wire::testing::kL3;
using Frames = std::vector<std::vector<uint8_t>>;

void write_capture(const TestFile& file, const Frames& frames) {
  CaptureWriter writer;
  ASSERT_TRUE(writer.open(file.path()));
  int64_t time = 0;
  for (const auto& frame : frames) writer.write(frame, time += 1000);
  ASSERT_TRUE(writer.close());
}

struct Seen {
  std::vector<std::string> lines;
  std::vector<Drop> faults;
};

void collect(void* context, const DecodedFrame& frame) {
  auto* seen = static_cast<Seen*>(context);
  seen->lines.emplace_back(frame.line);
  seen->faults.push_back(frame.verdict.fault);
  EXPECT_EQ(frame.number, seen->lines.size());
  EXPECT_EQ(frame.time_ns, static_cast<int64_t>(frame.number) * 1000);
}

Frames mixed_frames() {
  std::vector<uint8_t> bad_icrc = frame_of(wire::testing::kV1);
  bad_icrc.back() ^= 1;
  std::vector<uint8_t> arp(64);
  arp.resize(wire::build_arp(arp, {}, {}));
  std::vector<uint8_t> bad_igmp(128);
  bad_igmp.resize(wire::build_igmp(bad_igmp, {}, 1, {}, {}));
  bad_igmp.back() ^= 1;
  std::vector<uint8_t> stranger(60);
  wire::store_ethernet(stranger.data(), {}, 0x88CC);
  std::vector<uint8_t> cut = frame_of(wire::testing::kV3);
  cut.resize(70);
  return {frame_of(wire::testing::kV1), bad_icrc, arp, bad_igmp, stranger, cut};
}

TEST(Decode, EveryFrameGetsALineAVerdictAndACount) {
  const TestFile file;
  write_capture(file, mixed_frames());
  Seen seen;
  DecodeSummary summary;
  char error[256] = "";
  ASSERT_EQ(decode_file(file.path(), collect, &seen, summary, error), 0) << error;
  EXPECT_EQ(seen.faults, (std::vector<Drop>{Drop::kNone, Drop::kIcrc, Drop::kNone,
                                            Drop::kIgmpChecksum, Drop::kNone, Drop::kFrameCut}));
  EXPECT_EQ(seen.lines[0],
            "10.0.0.1 > 10.0.0.2 RC SEND ONLY QPN 0x000011 PSN 0x000001 A M payload 8 ICRC ok");
  EXPECT_EQ(seen.lines[1].substr(seen.lines[1].size() - 8), "ICRC bad");
  EXPECT_EQ(seen.lines[5].find("ICRC"), std::string::npos) << "none was verified";
  EXPECT_EQ(summary.frames, 6u);
  EXPECT_EQ(summary.roce, 3u);
  EXPECT_EQ(summary.link, 2u);
  EXPECT_EQ(summary.other, 1u);
  EXPECT_EQ(summary.bad, 3u);
  EXPECT_EQ(summary.faults[static_cast<size_t>(Drop::kIcrc)], 1u);
  EXPECT_EQ(summary.faults[static_cast<size_t>(Drop::kIgmpChecksum)], 1u);
  EXPECT_EQ(summary.faults[static_cast<size_t>(Drop::kFrameCut)], 1u);
}

TEST(Decode, TheFieldsFaultsHaveTheirNames) {
  const auto fault_of = [](size_t offset, uint8_t flip) {
    std::vector<uint8_t> frame = frame_of(wire::testing::kV1);
    frame[offset] ^= flip;
    return judge_frame(frame).fault;
  };
  EXPECT_EQ(fault_of(kL3 + 28, 0x1A), Drop::kOpcodeUnknown);  // 0x1E
  EXPECT_EQ(fault_of(kL3 + 29, 0x01), Drop::kBthVersion);
  EXPECT_EQ(fault_of(kL3 + 26, 0x01), Drop::kUdpChecksum);
  EXPECT_EQ(fault_of(kL3 + 28, 0x10), Drop::kHeaderShort);  // FETCH ADD without its header
  EXPECT_EQ(fault_of(kL3 + 44, 0x01), Drop::kIcrc);
  EXPECT_EQ(fault_of(kL3 + 9, 0x17), Drop::kNone) << "another protocol is no fault";
}

TEST(Decode, AVlanTagIsNoObstacle) {
  const std::vector<uint8_t> plain = frame_of(wire::testing::kV1);
  std::vector<uint8_t> tagged(plain.size() + 4);
  std::copy_n(plain.begin(), 12, tagged.begin());
  std::copy(plain.begin() + 12, plain.end(), tagged.begin() + 16);
  store_be16(tagged.data() + 12, wire::kEthertypeVlan);
  store_be16(tagged.data() + 14, 0x6123);
  const Verdict verdict = judge_frame(tagged);
  EXPECT_EQ(verdict.frame_class, FrameClass::kRoce);
  EXPECT_EQ(verdict.fault, Drop::kNone);
}

struct CSeen {
  int frames = 0;
  std::vector<std::string> faults;
};

void collect_c(void* context, const struct uroce_decoded_frame* frame) {
  auto* seen = static_cast<CSeen*>(context);
  ++seen->frames;
  if (frame->fault != nullptr) seen->faults.emplace_back(frame->fault);
  EXPECT_EQ(frame->fault == nullptr, frame->explanation == nullptr);
}

TEST(DecodeInC, GivesFramesFaultsAndSummary) {
  const TestFile file;
  write_capture(file, mixed_frames());
  CSeen seen;
  struct uroce_decode_summary summary;
  char error[256] = "";
  ASSERT_EQ(uroce_decode_capture(file.path(), collect_c, &seen, &summary, error, sizeof error), 0);
  EXPECT_EQ(seen.frames, 6);
  EXPECT_EQ(seen.faults, (std::vector<std::string>{"icrc", "igmp_checksum", "frame_cut"}));
  EXPECT_EQ(summary.frames, 6u);
  EXPECT_EQ(summary.bad, 3u);
  EXPECT_EQ(uroce_decode_capture(file.path(), nullptr, nullptr, nullptr, nullptr, 0), 0);
}

TEST(DecodeInC, ErrorsNameTheFile) {
  char error[256] = "";
  struct uroce_decode_summary summary;
  EXPECT_EQ(uroce_decode_capture("no/such.pcap", nullptr, nullptr, &summary, error, sizeof error),
            -ENOENT);
  EXPECT_STREQ(error, "no/such.pcap: cannot open: No such file or directory");
  const TestFile text("not a capture at all, just text");
  EXPECT_EQ(uroce_decode_capture(text.path(), nullptr, nullptr, &summary, error, sizeof error),
            -EINVAL);
  const TestFile whole;
  write_capture(whole, mixed_frames());
  const std::string content = whole.content();
  const TestFile cut(content.substr(0, content.size() - 3));
  EXPECT_EQ(uroce_decode_capture(cut.path(), nullptr, nullptr, &summary, error, sizeof error),
            -EIO);
  EXPECT_EQ(summary.frames, 5u);
  EXPECT_EQ(std::string(error).find(cut.path()), 0u);
}

}  // namespace
}  // namespace uroce::capture
