// SPDX-License-Identifier: BSD-3-Clause
// Starting EAL with checks of our own in front, so that an error is one line of ours.
#include "worker/eal.h"

#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <fcntl.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <unistd.h>

#include "base/quotable.h"
#include "worker/eal_check.h"

namespace uroce::worker {
namespace {

// 0 never started, 1 running, 2 cleaned up.
int eal_life = 0;

// The process that holds EAL's shared files, or 0. EAL locks them before it writes.
pid_t holder_of_files() {
  const std::string path = std::string(rte_eal_get_runtime_dir()) + "/config";
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return 0;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool held = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(file);
  return held ? lock.l_pid : 0;
}

// EAL said no; `error` is what it left, often nothing.
absl::Status refused(const std::vector<std::string>& arguments, int error) {
  if (const pid_t holder = holder_of_files(); holder != 0) {
    return absl::UnavailableError(
        absl::StrFormat("EAL's file prefix is in use by process %d (%s): add --file-prefix NAME to "
                        "the EAL arguments for files of your own, or --no-shconf for none",
                        holder, rte_eal_get_runtime_dir()));
  }
  const auto first = arguments.begin() + (arguments.empty() ? 0 : 1);  // behind the program
  const std::string cause = error == 0 ? "" : absl::StrFormat(": %s", rte_strerror(error));
  return absl::InvalidArgumentError(
      absl::StrFormat("EAL refused its arguments (%s)%s; its own words are above",
                      quotable(absl::StrJoin(first, arguments.end(), " "), kQuotedPathMax), cause));
}

}  // namespace

SplitArguments split_arguments(std::span<const char* const> arguments) {
  SplitArguments split;
  bool own = false;
  for (const char* argument : arguments) {
    if (!own && std::string_view(argument) == "--") {
      own = true;
    } else {
      (own ? split.own : split.eal).emplace_back(argument);
    }
  }
  return split;
}

absl::StatusOr<Eal> Eal::start(const std::vector<std::string>& arguments) {
  if (eal_life == 1) {
    return absl::AbortedError("EAL is running already: use uroce_adopt");
  }
  if (eal_life == 2) {
    return absl::AbortedError(
        "EAL was started and stopped before: DPDK can be started once in a process");
  }
  if (absl::Status status = check_arguments(arguments); !status.ok()) return status;
  std::vector<char*> argv;
  std::vector<std::string> copies = arguments;
  // DPDK's own sentences below a warning would bury ours; a user's --log-level still wins.
  if (!has_option(arguments, "log-level")) copies.push_back("--log-level=lib.eal:4");
  argv.reserve(copies.size() + 1);
  for (std::string& copy : copies) argv.push_back(copy.data());
  argv.push_back(nullptr);
  // getopt's state belongs to the program that may have used it before us.
  const int saved_optind = optind;
  optind = 1;
  rte_errno = 0;
  const int result = rte_eal_init(static_cast<int>(copies.size()), argv.data());
  const int error = rte_errno;
  optind = saved_optind;
  if (result < 0) {
    return refused(arguments, error);
  }
  eal_life = 1;
  return Eal(true);
}

absl::StatusOr<Eal> Eal::adopt() {
  if (rte_lcore_count() == 0) {
    return absl::FailedPreconditionError(
        "EAL is not initialised: call rte_eal_init first, or use uroce_start");
  }
  return Eal(false);
}

Eal::~Eal() {
  if (!owned_) return;
  rte_eal_cleanup();
  eal_life = 2;
}

}  // namespace uroce::worker
