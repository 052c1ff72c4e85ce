// SPDX-License-Identifier: BSD-3-Clause
// Two ends of a memif find their roles, in either order and after a crash.
#include "nic/memif_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

namespace uroce::nic {
namespace {

using ::testing::HasSubstr;

MATCHER_P(IsOkAnd, value, "") {
  if (!arg.ok()) *result_listener << arg.status();
  return arg.ok() && *arg == value;
}

// Greets everybody, as a memif server does.
class Server {
 public:
  // `missed`: guests who had gone when they were greeted; to be read when this has ended.
  Server(const std::string& path, int& missed) : missed_(missed) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_.get(), 1), 0);
    thread_ = std::thread([this] { greet(); });
  }
  ~Server() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  void greet() {
    for (;;) {
      const Descriptor guest(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!guest.is_open()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // a busy machine
      if (::send(guest.get(), "hello", 5, MSG_NOSIGNAL) != 5) ++missed_;
    }
  }

  const Descriptor socket_{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  int& missed_;
  std::thread thread_;
};

class MemifEndTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/uroce-memif-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    path_ = directory_ + "/socket";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  bool file_is_there() const { return std::filesystem::exists(path_); }

  std::string directory_;
  std::string path_;
};

TEST_F(MemifEndTest, WhoComesFirstIsTheServerAndTheNextOneItsClient) {
  auto first = std::make_unique<MemifEnds>();
  EXPECT_THAT(first->choose_server(path_), IsOkAnd(true));
  EXPECT_THAT(first->choose_server(directory_ + "/other"), IsOkAnd(true));  // its own lock
  int missed = 0;
  const Server server(path_, missed);
  std::atomic<bool> started{false};
  std::thread second([&] {
    MemifEnds ends;
    EXPECT_THAT(ends.choose_server(path_), IsOkAnd(false));
    EXPECT_TRUE(started.load()) << "chosen before the first one had started";
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  started.store(true);
  first.reset();
  second.join();
  EXPECT_TRUE(file_is_there());
}

TEST_F(MemifEndTest, TheSocketOfACrashedServerIsCleared) {
  int missed = 0;
  {
    const Server crashed(path_, missed);
    EXPECT_TRUE(memif_server_listens(path_));
  }
  EXPECT_EQ(missed, 0) << "net_memif does not outlive a guest who has gone by then";
  ASSERT_TRUE(file_is_there());
  EXPECT_FALSE(memif_server_listens(path_));
  MemifEnds ends;
  EXPECT_THAT(ends.choose_server(path_), IsOkAnd(true));
  EXPECT_FALSE(file_is_there());
}

TEST_F(MemifEndTest, BadPathsAreNamed) {
  MemifEnds ends;
  EXPECT_THAT(std::string(ends.choose_server("/nowhere/at/all").status().message()),
              HasSubstr("/nowhere/at/all: its directory is no place to write to"));
  EXPECT_THAT(std::string(ends.choose_server(path_ + std::string(120, 'x')).status().message()),
              HasSubstr("at most 107 characters"));
}

}  // namespace
}  // namespace uroce::nic
