// SPDX-License-Identifier: BSD-3-Clause
// Reading capture files through libpcap, with errors that name the file and what is wrong with it.
#include "capture/reader.h"

#include <pcap/pcap.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace uroce::capture {

CaptureReader::~CaptureReader() {
  if (file_ != nullptr) pcap_close(file_);
}

int CaptureReader::open(const char* path) {
  if (file_ != nullptr) pcap_close(file_);
  file_ = nullptr;
  number_ = 0;
  std::snprintf(path_, sizeof path_, "%s", path);
  std::FILE* stream = std::fopen(path, "rb");
  if (stream == nullptr) {
    const int error = errno;
    std::snprintf(error_, sizeof error_, "%s: cannot open: %s", path_, std::strerror(error));
    return -error;
  }
  char reason[PCAP_ERRBUF_SIZE] = "";
  file_ = pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, reason);
  if (file_ == nullptr) {
    std::fclose(stream);
    std::snprintf(error_, sizeof error_, "%s: not a capture file: %s", path_, reason);
    return -EINVAL;
  }
  const int link_type = pcap_datalink(file_);
  if (link_type != DLT_EN10MB) {
    const char* name = pcap_datalink_val_to_name(link_type);
    std::snprintf(error_, sizeof error_, "%s: link type is %s (%d), not Ethernet", path_,
                  name != nullptr ? name : "unknown", link_type);
    return -EINVAL;
  }
  return 0;
}

CaptureReader::Result CaptureReader::next(CapturedFrame& frame) {
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  const int result = pcap_next_ex(file_, &header, &bytes);
  if (result == 1) {
    ++number_;
    frame.bytes = {bytes, header->caplen};
    // With nanosecond precision, libpcap keeps nanoseconds in tv_usec.
    frame.time_ns = int64_t{header->ts.tv_sec} * 1'000'000'000 + header->ts.tv_usec;
    frame.wire_bytes = header->len;
    return Result::kFrame;
  }
  if (result == PCAP_ERROR_BREAK) return Result::kEnd;
  std::snprintf(error_, sizeof error_, "%s: cut short or damaged after frame %llu: %s", path_,
                static_cast<unsigned long long>(number_), pcap_geterr(file_));
  return Result::kError;
}

}  // namespace uroce::capture
