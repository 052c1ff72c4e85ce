// SPDX-License-Identifier: BSD-3-Clause
// Reads capture files (pcap and pcapng, microseconds and nanoseconds) frame by frame.
#ifndef UROCE_CAPTURE_READER_H
#define UROCE_CAPTURE_READER_H

#include <cstdint>
#include <span>

struct pcap;

namespace uroce::capture {

struct CapturedFrame {
  std::span<const uint8_t> bytes;  // valid until the next call of next()
  int64_t time_ns = 0;             // since 1970
  uint32_t wire_bytes = 0;         // the frame's length on the wire; more than bytes.size() if the
                                   // capture kept only the beginning
};

// One file, one reader, one thread.
class CaptureReader {
 public:
  enum class Result : uint8_t { kFrame, kEnd, kError };

  CaptureReader() = default;
  ~CaptureReader();
  CaptureReader(const CaptureReader&) = delete;
  CaptureReader& operator=(const CaptureReader&) = delete;

  // Opens a file of Ethernet frames. 0, or a negative errno value: that of open(), or -EINVAL for
  // what is not a capture of Ethernet frames; error() says it in a line that begins with the path.
  int open(const char* path);
  // Gets the next frame. kError: the file is cut short or damaged here, see error().
  Result next(CapturedFrame& frame);
  // The number of the frame that next() gave last, from 1.
  uint64_t number() const { return number_; }
  const char* error() const { return error_; }

 private:
  pcap* file_ = nullptr;
  uint64_t number_ = 0;
  char path_[256] = "";
  char error_[640] = "";
};

}  // namespace uroce::capture

#endif  // UROCE_CAPTURE_READER_H
