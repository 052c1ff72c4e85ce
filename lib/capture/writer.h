// SPDX-License-Identifier: BSD-3-Clause
// Writes capture files: classic pcap with nanosecond timestamps, the same bytes for the same calls.
#ifndef UROCE_CAPTURE_WRITER_H
#define UROCE_CAPTURE_WRITER_H

#include <cstdint>
#include <span>

struct pcap;
struct pcap_dumper;

namespace uroce::capture {

// One file, one writer, one thread.
class CaptureWriter {
 public:
  CaptureWriter() = default;
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  // Creates the file, or empties it. False: see error(), a line that begins with the path.
  bool open(const char* path);
  // Appends an Ethernet frame without FCS. `time_ns` counts from 1970 and is not negative.
  void write(std::span<const uint8_t> frame, int64_t time_ns);
  // Flushes and closes. False when something could not be written: see error().
  bool close();
  const char* error() const { return error_; }

 private:
  pcap* format_ = nullptr;
  pcap_dumper* file_ = nullptr;
  char path_[256] = "";
  char error_[640] = "";
};

}  // namespace uroce::capture

#endif  // UROCE_CAPTURE_WRITER_H
