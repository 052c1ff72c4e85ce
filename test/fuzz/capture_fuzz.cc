// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a capture file: frames that lie within what was read, or one line of error.
//
// libpcap reads files, not memory: the input goes to a file without a name (memfd), which is opened
// by its path below /proc.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/assert.h"
#include "capture/decode.h"
#include "capture/reader.h"

namespace {

void check_line(const char* line) {
  UROCE_ASSERT(std::strlen(line) > 0);
  UROCE_ASSERT(std::strchr(line, '\n') == nullptr);
}

void read_frames(const char* path, size_t size) {
  uroce::capture::CaptureReader reader;
  if (reader.open(path) != 0) {
    check_line(reader.error());
    return;
  }
  using Result = uroce::capture::CaptureReader::Result;
  uroce::capture::CapturedFrame frame;
  uint64_t expected = 0;
  unsigned sum = 0;
  for (;;) {
    const Result result = reader.next(frame);
    if (result != Result::kFrame) {
      if (result == Result::kError) check_line(reader.error());
      break;
    }
    UROCE_ASSERT(reader.number() == ++expected);
    UROCE_ASSERT(frame.bytes.size() <= size);
    for (const uint8_t byte : frame.bytes) sum += byte;  // AddressSanitizer sees each of them
  }
  volatile unsigned sink = sum;
  (void)sink;
}

void decode(const char* path) {
  uroce::capture::DecodeSummary summary;
  char error[640] = "";
  const auto sink = [](void*, const uroce::capture::DecodedFrame& frame) {
    check_line(frame.line);
  };
  if (uroce::capture::decode_file(path, sink, nullptr, summary, error) != 0) check_line(error);
  UROCE_ASSERT(summary.roce + summary.link + summary.other == summary.frames);
  uint64_t faults = 0;
  for (const uint64_t count : summary.faults) faults += count;
  UROCE_ASSERT(faults >= summary.bad && summary.bad <= summary.frames);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memfd_create("capture", MFD_CLOEXEC);
  UROCE_ASSERT(file >= 0);
  UROCE_ASSERT(write(file, data, size) == static_cast<ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  read_frames(path.c_str(), size);
  decode(path.c_str());
  close(file);
  return 0;
}
