// SPDX-License-Identifier: BSD-3-Clause
// Tests of reading short text files.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "ibverbs/distribution_fixture.h"
#include "ibverbs/undeclared.h"

namespace uroce::ibverbs {
namespace {

class Sysfs : public DistributionTest {
 protected:
  Sysfs() {
    char name[] = "/tmp/uroce-sysfs-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Sysfs() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text) { std::ofstream(folder_ + "/file") << text; }

  std::string folder_;
};

TEST_F(Sysfs, ReadsWhatTheDistributionReads) {
  auto* const other = theirs("ibv_read_sysfs_file", ibv_read_sysfs_file);
  for (const char* text : {"4\n", "4", "two\nlines\n", "end\n\n", "0123456789abcde",
                           "0123456789abcde\n", "0123456789abcdef", "0123456789abcdef\n"}) {
    write(text);
    char ours[16] = {};
    char expected[16] = {};
    EXPECT_EQ(ibv_read_sysfs_file(folder_.c_str(), "file", ours, sizeof ours),
              other(folder_.c_str(), "file", expected, sizeof expected))
        << text;
    EXPECT_EQ(std::memcmp(ours, expected, sizeof ours), 0) << text;
  }
}

TEST_F(Sysfs, SaysWhatIsWrong) {
  char buffer[4] = {'x', 'x', 'x', 'x'};
  EXPECT_EQ(ibv_read_sysfs_file(folder_.c_str(), "file", buffer, sizeof buffer), -1);
  EXPECT_EQ(errno, ENOENT);
  write("four");
  EXPECT_EQ(ibv_read_sysfs_file(folder_.c_str(), "file", buffer, sizeof buffer), -1);
  EXPECT_EQ(errno, ENOBUFS);
  write("");
  EXPECT_EQ(ibv_read_sysfs_file(folder_.c_str(), "file", buffer, sizeof buffer), 0);
  EXPECT_EQ(buffer[0], '\0') << "an empty file is an empty text";
}

TEST_F(Sysfs, IsWhereTheEnvironmentSaysAtTheFirstCall) {
  setenv("SYSFS_PATH", "/somewhere/else//", 1);
  EXPECT_STREQ(ibv_get_sysfs_path(), "/somewhere/else");
  setenv("SYSFS_PATH", "/other", 1);
  EXPECT_STREQ(ibv_get_sysfs_path(), "/somewhere/else");
  unsetenv("SYSFS_PATH");
}

}  // namespace
}  // namespace uroce::ibverbs
