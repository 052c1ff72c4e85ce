// SPDX-License-Identifier: BSD-3-Clause
// Starting EAL with checks of our own in front, so that an error is one line of ours.
#include "worker/eal.h"

#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

namespace uroce::worker {
namespace {

// 0 never started, 1 running, 2 cleaned up.
int eal_life = 0;

bool has_option(const std::vector<std::string>& arguments, std::string_view option) {
  return std::any_of(arguments.begin(), arguments.end(), [option](const std::string& argument) {
    return argument == option || argument.starts_with(std::string(option) + "=");
  });
}

// Whether the kernel has huge pages set aside, of any size.
bool hugepages_reserved() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word) {
    long count = 0;
    if (word == "HugePages_Total:" && meminfo >> count) return count > 0;
  }
  return false;
}

absl::Status check(const std::vector<std::string>& arguments) {
  if (!has_option(arguments, "--no-huge") && !has_option(arguments, "--in-memory") &&
      !hugepages_reserved()) {
    return absl::FailedPreconditionError(
        "no huge pages are reserved: add --no-huge -m 256 to the EAL arguments, or reserve some "
        "(sysctl vm.nr_hugepages=512)");
  }
  if (has_option(arguments, "--no-huge") && has_option(arguments, "--in-memory")) {
    return absl::InvalidArgumentError(
        "--no-huge and --in-memory exclude each other: leave one of them out");
  }
  return absl::OkStatus();
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
    return absl::FailedPreconditionError("EAL is running already: use uroce_adopt");
  }
  if (eal_life == 2) {
    return absl::FailedPreconditionError(
        "EAL was started and stopped before: DPDK can be started once in a process");
  }
  if (absl::Status status = check(arguments); !status.ok()) return status;
  std::vector<char*> argv;
  std::vector<std::string> copies = arguments;
  // DPDK's own sentences below a warning would bury ours; a user's --log-level still wins.
  if (!has_option(arguments, "--log-level")) copies.push_back("--log-level=lib.eal:4");
  argv.reserve(copies.size() + 1);
  for (std::string& copy : copies) argv.push_back(copy.data());
  argv.push_back(nullptr);
  // getopt's state belongs to the program that may have used it before us.
  const int saved_optind = optind;
  optind = 1;
  const int result = rte_eal_init(static_cast<int>(copies.size()), argv.data());
  optind = saved_optind;
  if (result < 0) {
    const auto first = arguments.begin() + (arguments.empty() ? 0 : 1);  // behind the program
    return absl::InvalidArgumentError(
        absl::StrFormat("EAL refused its arguments (%s): %s; its own words are above",
                        absl::StrJoin(first, arguments.end(), " "), rte_strerror(rte_errno)));
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
