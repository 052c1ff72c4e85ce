// SPDX-License-Identifier: BSD-3-Clause
// Two processes meet over memif: configured alike, started in any order, also after a crash.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/address_text.h"
#include "ibverbs/process_fixture.h"

namespace uroce::ibverbs {
namespace {

[[noreturn]] void a_server_does_not_start(const std::string& options) {
  configure(options.c_str());
  device::Device* device = nullptr;
  must(Process::instance().start(0, device) == -EIO, "it does not start");
  exit(0);
}

// On a busy machine a process takes seconds to start.
constexpr auto kPatience = std::chrono::seconds(30);

class ProcessMemifTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 32> name{"/tmp/uroce-memif-XXXXXX"};
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name.data();
  }
  void TearDown() override {
    for (const pid_t end : ends_) {
      kill(end, SIGKILL);
      waitpid(end, nullptr, 0);
    }
    std::filesystem::remove_all(directory_);
  }

  // Starts a process with address 10.0.0.<host> that reaches 10.0.0.<peer>, says so by a file, and
  // waits for its end. `keys`: more of the port's.
  pid_t start_end(int host, int peer, const std::string& keys = "") {
    const pid_t child = fork();
    if (child != 0) {
      ends_.push_back(child);
      return child;
    }
    const std::string address = "10.0.0." + std::to_string(host);
    configure(
        ("--port net_memif,address=" + address + "/24,socket=" + directory_ + "/m" + keys).c_str());
    device::Device* const device = started();
    say(host, "started");
    reach(*device, "10.0.0." + std::to_string(peer));
    say(host, "reached " + std::to_string(peer));
    for (;;) pause();
  }
  // In the child: the peer answers, so frames pass both ways and its thread drives its engine.
  void reach(device::Device& device, const std::string& peer) {
    device::Pd* pd = nullptr;
    must(device.create_pd(pd) == 0, "a protection domain");
    device::AhAttributes path;
    path.dgid = parse_address(peer).value_or(Gid{});
    path.sgid_index = 1;
    path.global = true;
    device::Ah* ah = nullptr;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (device.create_ah(*pd, path, true, ah) != 0) {
      must(std::chrono::steady_clock::now() < end, "the peer answers");
    }
  }
  void say(int host, const std::string& what) { std::ofstream(word(host, what)) << what; }
  bool hear(int host, const std::string& what) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!std::filesystem::exists(word(host, what)) && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return std::filesystem::exists(word(host, what));
  }
  std::string word(int host, const std::string& what) {
    return directory_ + "/" + std::to_string(host) + " " + what;
  }
  void crash(pid_t end) {
    kill(end, SIGKILL);
    waitpid(end, nullptr, 0);
    std::erase(ends_, end);
  }

  std::string directory_;
  std::vector<pid_t> ends_;
};

TEST_F(ProcessMemifTest, TheyMeetInWhateverOrderTheyStart) {
  start_end(1, 2);
  ASSERT_TRUE(hear(1, "started"));  // long before the other
  start_end(2, 1);
  EXPECT_TRUE(hear(1, "reached 2"));
  EXPECT_TRUE(hear(2, "reached 1"));
}

TEST_F(ProcessMemifTest, TheyMeetWhenTheyStartTogether) {
  start_end(1, 2);
  start_end(2, 1);
  EXPECT_TRUE(hear(1, "reached 2"));
  EXPECT_TRUE(hear(2, "reached 1"));
}

TEST_F(ProcessMemifTest, AfterBothCrashedTheNextTwoMeetAtTheSameSocket) {
  const pid_t first = start_end(1, 2);
  ASSERT_TRUE(hear(1, "started"));
  crash(first);
  ASSERT_TRUE(std::filesystem::exists(directory_ + "/m"));
  start_end(3, 4);
  ASSERT_TRUE(hear(3, "started"));
  start_end(4, 3);
  EXPECT_TRUE(hear(3, "reached 4"));
}

TEST_F(ProcessMemifTest, AServerByNameClearsTheSocketOfOneThatCrashed) {
  const pid_t first = start_end(1, 2, ",role=server");
  ASSERT_TRUE(hear(1, "started"));
  crash(first);
  start_end(3, 4, ",role=server");
  ASSERT_TRUE(hear(3, "started"));
  start_end(4, 3);
  EXPECT_TRUE(hear(3, "reached 4"));
}

TEST_F(ProcessMemifTest, ASecondServerIsTold) {
  start_end(1, 2);
  ASSERT_TRUE(hear(1, "started"));
  const std::string port = "--port net_memif,role=server,address=10.0.0.2/24,socket=";
  EXPECT_EXIT(a_server_does_not_start(port + directory_ + "/m"), testing::ExitedWithCode(0),
              "^uroce: error: the RDMA device cannot start: memif socket /tmp/[^ ]*/m: another "
              "process is its server: leave out role=server[^\n]*\n$");
  start_end(2, 1);
  EXPECT_TRUE(hear(1, "reached 2"));
}

TEST_F(ProcessMemifTest, AServerMeetsTheNextClientAfterTheFirstCrashed) {
  start_end(1, 3);
  ASSERT_TRUE(hear(1, "started"));
  const pid_t client = start_end(2, 1);
  ASSERT_TRUE(hear(2, "reached 1"));
  crash(client);
  start_end(3, 1);
  EXPECT_TRUE(hear(3, "reached 1"));
  EXPECT_TRUE(hear(1, "reached 3"));
}

TEST_F(ProcessMemifTest, AClientMeetsTheNextServerAfterTheFirstCrashed) {
  const pid_t server = start_end(1, 2);
  ASSERT_TRUE(hear(1, "started"));
  start_end(2, 3);
  ASSERT_TRUE(hear(1, "reached 2"));
  crash(server);
  start_end(3, 2);
  EXPECT_TRUE(hear(3, "reached 2"));
  EXPECT_TRUE(hear(2, "reached 3"));
}

}  // namespace
}  // namespace uroce::ibverbs
