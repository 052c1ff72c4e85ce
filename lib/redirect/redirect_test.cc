// SPDX-License-Identifier: BSD-3-Clause
// The calls of this very program, in which ours stand in front of the C library's. Both names of
// those that have one for large files are called.
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int at, const char* path, int flags);
int __openat64_2(int at, const char* path, int flags);
ssize_t __readlink_chk(const char* path, char* to, size_t size, size_t room);
ssize_t __readlinkat_chk(int at, const char* path, char* to, size_t size, size_t room);
char* __realpath_chk(const char* path, char* to, size_t room);
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "/sys/class/infiniband/uroce0/node_type";
constexpr const char* kNode = "/dev/infiniband/uverbs0";
constexpr const char* kAbsent = "/sys/class/infiniband/mlx5_0/node_type";

class Redirect : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "uroce-redirect-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    tree_ = name;
    setenv("UROCE_TREE", tree_.c_str(), 1);
    fs::create_directories(tree_ + "/sys/class/infiniband/uroce0");
    fs::create_directories(tree_ + "/dev/infiniband");
    std::ofstream(tree_ + kFile) << "1: CA\n";
    fs::create_symlink("/dev/null", tree_ + kNode);
  }
  void TearDown() override {
    unsetenv("UROCE_TREE");
    fs::remove_all(tree_);
  }

  std::string tree_;
};

// What a descriptor reads, which it closes; "" of none.
std::string text_of(int file) {
  std::array<char, 32> text{};
  if (file < 0) return "";
  const ssize_t length = read(file, text.data(), text.size());
  close(file);
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(length, 0))};
}

std::string text_of(FILE* file) {
  std::array<char, 32> text{};
  if (file == nullptr) return "";
  const char* const line = fgets(text.data(), text.size(), file);
  fclose(file);
  return line == nullptr ? "" : line;
}

TEST_F(Redirect, EveryWayToOpenAFile) {
  EXPECT_EQ(text_of(open(kFile, O_RDONLY)), "1: CA\n");
  EXPECT_EQ(text_of(open64(kFile, O_RDONLY)), "1: CA\n");
  EXPECT_EQ(text_of(openat(AT_FDCWD, kFile, O_RDONLY)), "1: CA\n");
  EXPECT_EQ(text_of(openat64(AT_FDCWD, kFile, O_RDONLY)), "1: CA\n");
  EXPECT_EQ(text_of(__open_2(kFile, O_RDONLY)), "1: CA\n");
  EXPECT_EQ(text_of(__open64_2(kFile, O_RDONLY)), "1: CA\n");
  EXPECT_EQ(text_of(__openat_2(AT_FDCWD, kFile, O_RDONLY)), "1: CA\n");
  EXPECT_EQ(text_of(__openat64_2(AT_FDCWD, kFile, O_RDONLY)), "1: CA\n");
  EXPECT_EQ(text_of(fopen(kFile, "r")), "1: CA\n");
  EXPECT_EQ(text_of(fopen64(kFile, "r")), "1: CA\n");
}

TEST_F(Redirect, EveryWayToAskForOne) {
  struct stat status {};
  struct stat64 status64 {};
  struct statx extended {};
  EXPECT_EQ(stat(kNode, &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_EQ(stat64(kNode, &status64), 0);
  EXPECT_TRUE(S_ISCHR(status64.st_mode));
  EXPECT_EQ(lstat(kFile, &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  EXPECT_EQ(lstat64(kNode, &status64), 0);
  EXPECT_TRUE(S_ISLNK(status64.st_mode));
  EXPECT_EQ(fstatat(AT_FDCWD, kFile, &status, 0), 0);
  EXPECT_EQ(fstatat64(AT_FDCWD, kFile, &status64, 0), 0);
  EXPECT_EQ(statx(AT_FDCWD, kFile, 0, STATX_TYPE, &extended), 0);
  EXPECT_EQ(access(kNode, R_OK | W_OK), 0);
  EXPECT_EQ(faccessat(AT_FDCWD, kNode, R_OK, 0), 0);
  // None there, which is another answer than that of a file that is not.
  EXPECT_EQ(getxattr(kFile, "user.none", nullptr, 0), -1);
  EXPECT_NE(errno, ENOENT);
  EXPECT_EQ(lgetxattr(kFile, "user.none", nullptr, 0), -1);
  EXPECT_NE(errno, ENOENT);
}

TEST_F(Redirect, EveryWayToFollowALink) {
  std::array<char, PATH_MAX> name{};
  EXPECT_EQ(readlink(kNode, name.data(), name.size()), 9);
  EXPECT_EQ(readlinkat(AT_FDCWD, kNode, name.data(), name.size()), 9);
  EXPECT_EQ(__readlink_chk(kNode, name.data(), name.size(), name.size()), 9);
  EXPECT_EQ(__readlinkat_chk(AT_FDCWD, kNode, name.data(), name.size(), name.size()), 9);
  EXPECT_STREQ(realpath(kNode, name.data()), "/dev/null");
  char* const made = realpath(kNode, nullptr);
  EXPECT_STREQ(made, "/dev/null") << "by the newest of the C library's versions";
  free(made);
  EXPECT_STREQ(__realpath_chk(kNode, name.data(), name.size()), "/dev/null");
}

TEST_F(Redirect, AFolderIsListedAndItsEntriesOpened) {
  DIR* const folder = opendir("/sys/class/infiniband");
  ASSERT_NE(folder, nullptr);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) names.emplace_back(entry->d_name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(".", "..", "uroce0"));
  EXPECT_EQ(text_of(openat(dirfd(folder), "uroce0/node_type", O_RDONLY)), "1: CA\n");
  closedir(folder);
}

TEST_F(Redirect, ErrorsAreTheTreesOwn) {
  errno = 0;
  EXPECT_EQ(open(kAbsent, O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(access(kAbsent, F_OK), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(opendir(kFile), nullptr);
  EXPECT_EQ(errno, ENOTDIR);
  errno = 7;
  EXPECT_EQ(access(kFile, R_OK), 0);
  EXPECT_EQ(errno, 7);
}

TEST_F(Redirect, OtherPathsAreLeftAlone) {
  std::ofstream(tree_ + "/dev/null") << "not this one";
  EXPECT_EQ(text_of(open("/dev/null", O_RDONLY)), "");
  const std::string made = tree_ + "/made";
  close(open(made.c_str(), O_CREAT | O_WRONLY, 0640));
  struct stat status {};
  EXPECT_EQ(stat(made.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u) << "the mode goes along";
  EXPECT_EQ(realpath(nullptr, nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Redirect, APathTooLongForTheTreeIsTheKernels) {
  const std::string far = "/sys/class/infiniband/" + std::string(PATH_MAX, 'x');
  EXPECT_EQ(access(far.c_str(), F_OK), -1);
  EXPECT_EQ(errno, ENAMETOOLONG);
}

TEST_F(Redirect, WithoutATreeNothingIsLedElsewhere) {
  unsetenv("UROCE_TREE");
  EXPECT_EQ(open(kFile, O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
