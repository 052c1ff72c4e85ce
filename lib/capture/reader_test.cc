// SPDX-License-Identifier: BSD-3-Clause
// Reading captures: both formats, both precisions, and errors that name the file.
#include "capture/reader.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "capture/test_file.h"

namespace uroce::capture {
namespace {

using testing::TestFile;

// A little-endian pcap header with this magic and link type.
std::string pcap_header(uint32_t magic, uint32_t link_type) {
  std::string header;
  testing::put32(header, magic);
  testing::put32(header, 0x00040002);
  testing::put32(header, 0);
  testing::put32(header, 0);
  testing::put32(header, 65535);
  testing::put32(header, link_type);
  return header;
}

std::string record(uint32_t seconds, uint32_t fraction, const std::string& bytes,
                   uint32_t wire_bytes) {
  std::string text;
  testing::put32(text, seconds);
  testing::put32(text, fraction);
  testing::put32(text, static_cast<uint32_t>(bytes.size()));
  testing::put32(text, wire_bytes);
  return text + bytes;
}

constexpr uint32_t kMicroseconds = 0xA1B2C3D4;
constexpr uint32_t kNanoseconds = 0xA1B23C4D;

TEST(CaptureReader, ReadsMicrosecondsAndNanoseconds) {
  for (const uint32_t magic : {kMicroseconds, kNanoseconds}) {
    const TestFile file(pcap_header(magic, 1) + record(5, 7, "abcd", 4) + record(6, 8, "xy", 60));
    CaptureReader reader;
    ASSERT_EQ(reader.open(file.path()), 0) << reader.error();
    CapturedFrame frame;
    ASSERT_EQ(reader.next(frame), CaptureReader::Result::kFrame);
    EXPECT_EQ(frame.time_ns, 5'000'000'000 + (magic == kMicroseconds ? 7000 : 7));
    EXPECT_EQ(std::string(frame.bytes.begin(), frame.bytes.end()), "abcd");
    EXPECT_EQ(frame.wire_bytes, 4u);
    ASSERT_EQ(reader.next(frame), CaptureReader::Result::kFrame);
    EXPECT_EQ(frame.bytes.size(), 2u);
    EXPECT_EQ(frame.wire_bytes, 60u);
    EXPECT_EQ(reader.number(), 2u);
    EXPECT_EQ(reader.next(frame), CaptureReader::Result::kEnd);
  }
}

TEST(CaptureReader, ReadsPcapng) {
  std::string file;
  const auto block = [&](uint32_t type, std::string body) {
    while (body.size() % 4 != 0) body += '\0';
    testing::put32(file, type);
    testing::put32(file, static_cast<uint32_t>(body.size()) + 12);
    file += body;
    testing::put32(file, static_cast<uint32_t>(body.size()) + 12);
  };
  std::string body;
  testing::put32(body, 0x1A2B3C4D);
  testing::put32(body, 1);
  body += std::string(8, '\xff');
  block(0x0A0D0D0A, body);
  body.clear();
  testing::put32(body, 1);  // Ethernet
  testing::put32(body, 65535);
  block(1, body);
  body.clear();
  testing::put32(body, 0);
  testing::put32(body, 0);
  testing::put32(body, 2'000'001);  // microseconds
  testing::put32(body, 3);
  testing::put32(body, 3);
  block(6, body + "abc");
  const TestFile written(file);
  CaptureReader reader;
  ASSERT_EQ(reader.open(written.path()), 0) << reader.error();
  CapturedFrame frame;
  ASSERT_EQ(reader.next(frame), CaptureReader::Result::kFrame) << reader.error();
  EXPECT_EQ(frame.time_ns, 2'000'001'000);
  EXPECT_EQ(std::string(frame.bytes.begin(), frame.bytes.end()), "abc");
  EXPECT_EQ(reader.next(frame), CaptureReader::Result::kEnd);
}

TEST(CaptureReader, AFileThatIsNotThereIsSaid) {
  CaptureReader reader;
  EXPECT_EQ(reader.open("no/such.pcap"), -ENOENT);
  EXPECT_STREQ(reader.error(), "no/such.pcap: cannot open: No such file or directory");
}

TEST(CaptureReader, AFileThatIsNoCaptureIsSaid) {
  for (const std::string& content : {std::string(), std::string("hello, this is text\n")}) {
    const TestFile file(content);
    CaptureReader reader;
    EXPECT_EQ(reader.open(file.path()), -EINVAL);
    EXPECT_EQ(std::string(reader.error()).find(std::string(file.path()) + ": not a capture file"),
              0u)
        << reader.error();
  }
}

TEST(CaptureReader, ALinkTypeOtherThanEthernetIsSaid) {
  const TestFile file(pcap_header(kMicroseconds, 113) + record(0, 0, "abcd", 4));
  CaptureReader reader;
  EXPECT_EQ(reader.open(file.path()), -EINVAL);
  EXPECT_EQ(std::string(reader.error()),
            std::string(file.path()) + ": link type is LINUX_SLL (113), not Ethernet");
}

TEST(CaptureReader, AFileCutShortGivesItsWholeFramesFirst) {
  const std::string whole =
      pcap_header(kMicroseconds, 1) + record(0, 0, "abcd", 4) + record(0, 1, "efgh", 4);
  for (const size_t missing : {1u, 4u, 5u, 19u}) {
    const TestFile file(whole.substr(0, whole.size() - missing));
    CaptureReader reader;
    ASSERT_EQ(reader.open(file.path()), 0);
    CapturedFrame frame;
    EXPECT_EQ(reader.next(frame), CaptureReader::Result::kFrame);
    EXPECT_EQ(reader.next(frame), CaptureReader::Result::kError);
    EXPECT_NE(std::string(reader.error()).find(": cut short or damaged after frame 1: "),
              std::string::npos)
        << reader.error();
  }
}

}  // namespace
}  // namespace uroce::capture
