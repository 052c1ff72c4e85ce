// SPDX-License-Identifier: BSD-3-Clause
// The runtime of the library: one for each process, configured by its environment, started by the
// first object and ended by the process.
//
// Started lazily, in a thread of its own that is the progress thread afterwards: no signal of the
// program's is taken there, the program's threads keep their CPUs, stdout stays as it is, and an
// exec'd child inherits nothing. The child of a fork has no engine: DPDK cannot be started twice
// from one image, and its memory is shared with the parent.
#ifndef UROCE_IBVERBS_PROCESS_H
#define UROCE_IBVERBS_PROCESS_H

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <pthread.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "config/settings.h"
#include "ibverbs/progress.h"
#include "ibverbs/runtime.h"
#include "start/context.h"
#include "start/face.h"

namespace uroce::ibverbs {

class Process final : public Runtime {
 public:
  // Made at the first call and never destroyed: other threads may be in here when the process ends.
  static Process& instance();

  int device_count() override;
  DeviceDescription describe(uint32_t index) override;
  int start(uint32_t index, device::Device*& device) override;
  device::Device* running(uint32_t index) override;
  uint32_t drive() override;
  uint32_t drive_in_turn() override;

  // Returns when every turn that was under way has ended (start::Context::await_turns()).
  void await_turns();

  // The end, once, by atexit() in the process that started: what is owed to peers goes out, the
  // thread stops, ports are closed. Afterwards calls do no harm, and move nothing.
  void finish();

  // Around fork(), by pthread_atfork().
  void before_fork();
  void after_fork();
  void in_child();

 private:
  class Face;
  class Engines;

  Process();
  ~Process() override = default;

  int settle();
  int start_once();
  absl::Status spawn();
  absl::Status open();
  void run();

  std::mutex lock_;  // the next six
  std::optional<absl::StatusOr<config::Settings>> settings_;
  std::optional<int> started_;                       // 0 or a negative errno
  std::map<uint32_t, DeviceDescription> described_;  // as each was seen last
  bool child_told_ = false;
  pthread_t thread_{};
  std::promise<absl::Status> opened_;

  std::unique_ptr<Face> face_;
  std::unique_ptr<Engines> engines_;
  std::unique_ptr<Progress> progress_;
  start::Context* opening_ = nullptr;              // never destroyed
  std::atomic<start::Context*> context_{nullptr};  // open; nullptr in the child of a fork
  std::atomic<bool> finished_{false};
};

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_PROCESS_H
