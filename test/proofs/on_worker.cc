// SPDX-License-Identifier: BSD-3-Clause
// The lcore's thread is found by the name that EAL gave it.
#include "test/proofs/on_worker.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace uroce::proofs {
namespace {

std::atomic<void (*)()> wanted{nullptr};

void handle(int) {
  wanted.load(std::memory_order_acquire)();
  wanted.store(nullptr, std::memory_order_release);
}

int find_thread(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string found;
    std::getline(std::ifstream(entry.path() / "comm") >> std::ws, found);
    if (found == name) return std::atoi(entry.path().filename().c_str());
  }
  return 0;
}

}  // namespace

bool run_on_worker(void (*function)()) {
  static const int thread = find_thread("rte-worker-1");
  if (thread == 0) return false;
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  wanted.store(function, std::memory_order_release);
  if (syscall(SYS_tgkill, getpid(), thread, SIGUSR1) != 0) return false;
  for (int wait = 0; wait < 10000; ++wait) {
    if (wanted.load(std::memory_order_acquire) == nullptr) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace uroce::proofs
