// SPDX-License-Identifier: BSD-3-Clause
// Writing capture files through libpcap.
#include "capture/writer.h"

#include <pcap/pcap.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace uroce::capture {
namespace {

constexpr int kSnapshotBytes = 262144;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

}  // namespace

CaptureWriter::~CaptureWriter() {
  if (file_ != nullptr) pcap_dump_close(file_);
  if (format_ != nullptr) pcap_close(format_);
}

bool CaptureWriter::open(const char* path) {
  if (file_ != nullptr) close();
  std::snprintf(path_, sizeof path_, "%s", path);
  if (format_ == nullptr) {
    format_ = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kSnapshotBytes,
                                                   PCAP_TSTAMP_PRECISION_NANO);
  }
  if (format_ == nullptr) {
    std::snprintf(error_, sizeof error_, "%s: no memory for a capture", path_);
    return false;
  }
  file_ = pcap_dump_open(format_, path);
  if (file_ == nullptr) {
    std::snprintf(error_, sizeof error_, "%s: cannot write: %s", path_, std::strerror(errno));
    return false;
  }
  return true;
}

void CaptureWriter::write(std::span<const uint8_t> frame, int64_t time_ns) {
  pcap_pkthdr header{};
  header.ts.tv_sec = time_ns / kNanosecondsPerSecond;
  // With nanosecond precision, libpcap keeps nanoseconds in tv_usec.
  header.ts.tv_usec = time_ns % kNanosecondsPerSecond;
  header.caplen = static_cast<bpf_u_int32>(frame.size());
  header.len = header.caplen;
  pcap_dump(reinterpret_cast<u_char*>(file_), &header, frame.data());
}

bool CaptureWriter::close() {
  if (file_ == nullptr) return true;
  const bool failed = pcap_dump_flush(file_) != 0 || std::ferror(pcap_dump_file(file_)) != 0;
  if (failed) std::snprintf(error_, sizeof error_, "%s: could not be written whole", path_);
  pcap_dump_close(file_);
  file_ = nullptr;
  return !failed;
}

}  // namespace uroce::capture
