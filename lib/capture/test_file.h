// SPDX-License-Identifier: BSD-3-Clause
// A file with given content for the length of a test.
#ifndef UROCE_CAPTURE_TEST_FILE_H
#define UROCE_CAPTURE_TEST_FILE_H

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace uroce::capture::testing {

class TestFile {
 public:
  explicit TestFile(const std::string& content = "") {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr ? folder : "/tmp") + "/uroce_capture_XXXXXX";
    const int file = mkstemp(path_.data());
    const bool written = file >= 0 && ::write(file, content.data(), content.size()) ==
                                          static_cast<ssize_t>(content.size());
    if (file >= 0) ::close(file);
    if (!written) std::abort();
  }
  ~TestFile() { std::remove(path_.c_str()); }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  const char* path() const { return path_.c_str(); }
  std::string content() const {
    std::string bytes;
    std::FILE* file = std::fopen(path(), "rb");
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
      bytes += static_cast<char>(c);
    }
    std::fclose(file);
    return bytes;
  }

 private:
  std::string path_;
};

// Appends a number, least significant byte first.
inline void put32(std::string& to, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>(value >> shift & 0xff);
}

}  // namespace uroce::capture::testing

#endif  // UROCE_CAPTURE_TEST_FILE_H
