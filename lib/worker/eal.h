// SPDX-License-Identifier: BSD-3-Clause
// DPDK's environment: started by us from the arguments before `--`, or adopted from a process that
// started it itself.
#ifndef UROCE_WORKER_EAL_H
#define UROCE_WORKER_EAL_H

#include <absl/status/statusor.h>

#include <span>
#include <string>
#include <vector>

namespace uroce::worker {

// The command line in two: EAL's part (program name first, `--` left out) and ours.
struct SplitArguments {
  std::vector<std::string> eal;
  std::vector<std::string> own;
};
SplitArguments split_arguments(std::span<const char* const> arguments);

// EAL's life in this process. There is one init per process, for ever: a second start after the
// cleanup is refused with a sentence.
class Eal {
 public:
  // What can be checked before EAL prints its usage is checked first. EAL pins the calling thread.
  static absl::StatusOr<Eal> start(const std::vector<std::string>& arguments);
  // The process has called rte_eal_init itself and will clean up itself.
  static absl::StatusOr<Eal> adopt();

  Eal(Eal&& other) noexcept : owned_(other.owned_) { other.owned_ = false; }
  Eal& operator=(Eal&&) = delete;
  ~Eal();

 private:
  explicit Eal(bool owned) : owned_(owned) {}
  bool owned_;
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_EAL_H
