// SPDX-License-Identifier: BSD-3-Clause
// Writing captures: what is written reads back, and the bytes depend on the calls only.
#include "capture/writer.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/reader.h"
#include "capture/test_file.h"
#include "wire/test_packets.h"

namespace uroce::capture {
namespace {

using testing::TestFile;

TEST(CaptureWriter, WhatIsWrittenReadsBack) {
  const TestFile file;
  const std::vector<uint8_t> first = wire::testing::frame_of(wire::testing::kV1);
  const std::vector<uint8_t> second = wire::testing::frame_of(wire::testing::kV3);
  CaptureWriter writer;
  ASSERT_TRUE(writer.open(file.path())) << writer.error();
  writer.write(first, 0);
  writer.write(second, 1'700'000'000'123'456'789);
  ASSERT_TRUE(writer.close()) << writer.error();
  CaptureReader reader;
  ASSERT_EQ(reader.open(file.path()), 0) << reader.error();
  CapturedFrame frame;
  ASSERT_EQ(reader.next(frame), CaptureReader::Result::kFrame);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), frame.bytes.begin(), frame.bytes.end()));
  EXPECT_EQ(frame.time_ns, 0);
  ASSERT_EQ(reader.next(frame), CaptureReader::Result::kFrame);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), frame.bytes.begin(), frame.bytes.end()));
  EXPECT_EQ(frame.time_ns, 1'700'000'000'123'456'789);
  EXPECT_EQ(frame.wire_bytes, second.size());
  EXPECT_EQ(reader.next(frame), CaptureReader::Result::kEnd);
}

TEST(CaptureWriter, TheSameCallsGiveTheSameBytes) {
  const TestFile one;
  const TestFile other;
  for (const TestFile* file : {&one, &other}) {
    CaptureWriter writer;
    ASSERT_TRUE(writer.open(file->path()));
    writer.write(wire::testing::frame_of(wire::testing::kV2), 12345);
    ASSERT_TRUE(writer.close());
  }
  EXPECT_EQ(one.content(), other.content());
  EXPECT_EQ(one.content().substr(0, 4), "\x4d\x3c\xb2\xa1") << "classic pcap, nanoseconds";
}

TEST(CaptureWriter, AnUnwritablePathIsSaid) {
  CaptureWriter writer;
  EXPECT_FALSE(writer.open("no/such/folder/x.pcap"));
  EXPECT_EQ(std::string(writer.error()),
            "no/such/folder/x.pcap: cannot write: No such file or directory");
}

TEST(CaptureWriter, ADiskThatIsFullIsSaid) {
  CaptureWriter writer;
  if (!writer.open("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  for (int i = 0; i < 200; ++i) writer.write(wire::testing::frame_of(wire::testing::kV1), i);
  EXPECT_FALSE(writer.close());
  EXPECT_STREQ(writer.error(), "/dev/full: could not be written whole");
}

}  // namespace
}  // namespace uroce::capture
