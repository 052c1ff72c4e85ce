// SPDX-License-Identifier: BSD-3-Clause
// Worker processes take seeds from a counter in shared memory and add up what they saw there. A
// process of its own for each worker, because the product has process-wide registries of objects.
#include "test/sim/swarm.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "test/sim/run.h"

namespace uroce::sim {
namespace {

struct Shared {
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> failed{UINT64_MAX};  // the lowest number of a seed that failed
  std::atomic<uint64_t> runs{0};
  std::atomic<uint64_t> messages{0};
  std::atomic<uint64_t> frames{0};
  std::atomic<uint64_t> lost{0};
  std::atomic<uint64_t> stalls{0};
  std::atomic<uint64_t> retransmitted{0};
  std::atomic<uint64_t> renewed{0};
  std::atomic<uint64_t> virtual_ns{0};
  std::array<std::atomic<uint64_t>, Tally::kSize> tally{};

  void note_failure(uint64_t number) {
    uint64_t lowest = failed.load();
    while (number < lowest && !failed.compare_exchange_weak(lowest, number)) {
    }
  }
};

// Where each worker is, so that a crash can be laid at a seed.
struct Worker {
  pid_t pid = -1;
  std::atomic<uint64_t>* at = nullptr;
};

void add(Shared& shared, const RunResult& run) {
  const WireCounters& wire = run.wire;
  ++shared.runs;
  shared.messages += run.messages;
  shared.frames += wire.sent;
  shared.lost += wire.lost + wire.cut + wire.tail_drops + wire.port_drops + wire.oversize;
  shared.stalls += wire.stalls;
  shared.retransmitted += run.retransmitted;
  shared.renewed += run.renewed;
  shared.virtual_ns += static_cast<uint64_t>(run.virtual_time.count());
  for (size_t i = 0; i < Tally::kSize; ++i) shared.tally[i] += run.tally.counts[i];
}

void work(Shared& shared, std::atomic<uint64_t>& at, uint64_t first, uint64_t count) {
  for (;;) {
    const uint64_t number = shared.next++;
    if (number >= count || number > shared.failed.load()) return;
    at = number;
    const RunResult run = run_seed(first + number);
    add(shared, run);
    if (!run.failure.empty()) shared.note_failure(number);
  }
}

template <typename T>
T* share(size_t count) {
  void* memory =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory for the swarm");
  T* const first = static_cast<T*>(memory);
  for (size_t i = 0; i < count; ++i) new (first + i) T{};
  return first;
}

}  // namespace

SwarmResult run_swarm(uint64_t first, uint64_t count, unsigned jobs) {
  Shared& shared = *share<Shared>(1);
  auto* const places = share<std::atomic<uint64_t>>(jobs);
  std::vector<Worker> workers;
  for (unsigned i = 0; i < jobs; ++i) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid == 0) {
      work(shared, places[i], first, count);
      _exit(0);
    }
    workers.push_back({pid, &places[i]});
  }
  SwarmResult result;
  uint64_t crashed = UINT64_MAX;
  for (const Worker& worker : workers) {
    int status = 0;
    waitpid(worker.pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    shared.note_failure(*worker.at);
    if (*worker.at > crashed) continue;
    crashed = *worker.at;
    result.crash = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit code not 0";
  }
  const uint64_t failed = shared.failed;
  result.failed = failed != UINT64_MAX;
  result.failed_seed = first + failed;
  if (failed != crashed) result.crash.clear();
  result.runs = shared.runs;
  result.messages = shared.messages;
  result.frames = shared.frames;
  result.lost = shared.lost;
  result.stalls = shared.stalls;
  result.retransmitted = shared.retransmitted;
  result.renewed = shared.renewed;
  for (size_t i = 0; i < Tally::kSize; ++i) result.tally.counts[i] = shared.tally[i];
  result.virtual_seconds = static_cast<double>(shared.virtual_ns) / 1e9;
  return result;
}

}  // namespace uroce::sim
