// SPDX-License-Identifier: BSD-3-Clause
// EAL's arguments read as EAL reads them, each judged where we can name the cure.
#include "worker/eal_check.h"

#include <absl/strings/str_format.h>
#include <getopt.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/quotable.h"

namespace uroce::worker {
namespace {

constexpr const char* kCpus = "/sys/devices/system/cpu";

// What DPDK 22.11 knows.
constexpr char kShortOptions[] = ":a:b:c:d:hl:m:n:r:s:vS:";
constexpr const char* kWithValue[] = {
    "allow",     "block",        "base-virtaddr", "file-prefix",        "force-max-simd-bitwidth",
    "huge-dir",  "iova-mode",    "lcores",        "log-level",          "main-lcore",
    "proc-type", "socket-mem",   "socket-limit",  "mbuf-pool-ops-name", "syslog",
    "trace",     "trace-dir",    "trace-bufsz",   "trace-mode",         "vdev",
    "vfio-intr", "vfio-vf-token"};
constexpr const char* kPlain[] = {
    "create-uio-dev", "help",   "in-memory", "legacy-mem",   "match-allocations",    "no-hpet",
    "no-huge",        "no-pci", "no-shconf", "no-telemetry", "single-file-segments", "telemetry",
    "vmware-tsc-map"};
constexpr const char* kMaybeValue[] = {"huge-unlink", "huge-worker-stack"};

std::vector<option> long_options() {
  std::vector<option> options;
  for (const char* name : kWithValue) options.push_back({name, required_argument, nullptr, 0});
  for (const char* name : kPlain) options.push_back({name, no_argument, nullptr, 0});
  for (const char* name : kMaybeValue) options.push_back({name, optional_argument, nullptr, 0});
  options.push_back({});
  return options;
}

struct Given {
  std::string name;  // without dashes, in full
  std::string value;
};

struct Reading {
  std::vector<Given> options;
  std::string unknown;        // the first argument that is no option of EAL's
  std::string without_value;  // the first option whose value is missing
};

Reading read(const std::vector<std::string>& arguments) {
  const std::vector<option> known = long_options();
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  argv.reserve(copies.size() + 1);
  for (std::string& copy : copies) argv.push_back(copy.data());
  argv.push_back(nullptr);
  // getopt's state belongs to the program that may have used it before us; 0 starts it afresh.
  const int saved_optind = optind, saved_opterr = opterr;
  optind = 0;
  opterr = 0;
  Reading reading;
  int index = 0;
  for (int found = 0;;) {
    const int at = std::max(optind, 1);
    found = getopt_long(static_cast<int>(copies.size()), argv.data(), kShortOptions, known.data(),
                        &index);
    if (found == -1) break;
    if (found == '?' || found == ':') {
      (found == '?' ? reading.unknown : reading.without_value) = argv[at];
      break;
    }
    const char* value = optarg == nullptr ? "" : optarg;
    reading.options.push_back({found == 0 ? known[static_cast<size_t>(index)].name
                                          : std::string(1, static_cast<char>(found)),
                               value});
  }
  optind = saved_optind;
  opterr = saved_opterr;
  return reading;
}

const Given* find(const Reading& reading, std::string_view name) {
  for (const Given& given : reading.options) {
    if (given.name == name) return &given;
  }
  return nullptr;
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

absl::Status check_memory(const Reading& reading) {
  const bool no_huge = find(reading, "no-huge") != nullptr;
  const bool in_memory = find(reading, "in-memory") != nullptr;
  if (no_huge && in_memory) {
    return absl::InvalidArgumentError(
        "--no-huge and --in-memory exclude each other: leave one of them out");
  }
  if (no_huge || in_memory || hugepages_reserved()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "no huge pages are reserved: add --no-huge -m 256 to the EAL arguments, or reserve some "
      "(sysctl vm.nr_hugepages=512)");
}

bool cpu_exists(const std::string& number) {
  const std::string path = kCpus + ("/cpu" + number);
  return access(path.c_str(), F_OK) == 0;
}

// The first CPU in a list of CPUs (-l) or a map of lcores (--lcores) that the machine has not.
// What stands in front of an '@' are numbers of lcores.
std::optional<std::string> missing_cpu(std::string_view list) {
  size_t begin = 0;
  unsigned depth = 0;
  for (size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    depth += c == '(' ? 1u : 0u;
    depth -= c == ')' && depth > 0 ? 1u : 0u;
    if (c != ',' || depth > 0) continue;
    std::string_view group = list.substr(begin, at - begin);
    begin = at + 1;
    if (const size_t sign = group.find('@'); sign != std::string_view::npos) {
      group = group.substr(sign + 1);
    }
    while (!group.empty()) {
      const size_t digits = std::min(group.find_first_not_of("0123456789"), group.size());
      const std::string number(group.substr(0, digits));
      if (!number.empty() && !cpu_exists(number)) return number;
      group = group.substr(std::min(std::max<size_t>(digits, 1), group.size()));
    }
  }
  return std::nullopt;
}

absl::Status check_cpus(const Reading& reading) {
  if (access(kCpus, F_OK) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "EAL finds the machine's CPUs in %s, which is not here: mount -t sysfs sysfs /sys", kCpus));
  }
  for (const char* name : {"l", "lcores"}) {
    const Given* cores = find(reading, name);
    if (cores == nullptr) continue;
    const auto missing = missing_cpu(cores->value);
    if (!missing) continue;
    std::string there;
    std::ifstream(std::string(kCpus) + "/possible") >> there;
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s %s: there is no CPU %s here, the machine has %s",
        cores->name == "l" ? "-l" : "--lcores", quotable(cores->value), quotable(*missing), there));
  }
  return absl::OkStatus();
}

// The value of a key in a vdev's "NAME,key=value,..."; nullopt: not given.
std::optional<std::string> key_of(const std::string& vdev, const std::string& key) {
  const size_t at = vdev.find("," + key + "=");
  if (at == std::string::npos) return std::nullopt;
  const size_t begin = at + key.size() + 2;
  return vdev.substr(begin, vdev.find(',', begin) - begin);
}

absl::Status check_interface(const std::string& vdev, const std::string& interface) {
  if (if_nametoindex(interface.c_str()) == 0) {
    return absl::NotFoundError(
        absl::StrFormat("--vdev=%s: there is no network interface '%s' here (ip link lists them)",
                        quotable(vdev), quotable(interface)));
  }
  const int socket = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (socket >= 0) close(socket);
  if (socket >= 0 || errno != EPERM) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrFormat("--vdev=%s: raw sockets need CAP_NET_RAW: run as root, or by setpriv with "
                      "the ambient capabilities net_raw, net_admin and ipc_lock",
                      quotable(vdev)));
}

absl::Status check_vdev(const std::string& vdev) {
  const auto made_by = [&vdev](const char* kind) {
    return vdev.starts_with(std::string("net_") + kind) ||
           vdev.starts_with(std::string("eth_") + kind);
  };
  if (made_by("af_packet")) {
    const auto interface = key_of(vdev, "iface");
    if (interface && !interface->empty()) return check_interface(vdev, *interface);
    return absl::InvalidArgumentError(
        absl::StrFormat("--vdev=%s: add iface=NAME, the network interface to use", quotable(vdev)));
  }
  if (!made_by("pcap")) return absl::OkStatus();
  if (const auto file = key_of(vdev, "rx_pcap"); file && access(file->c_str(), R_OK) != 0) {
    return absl::NotFoundError(
        absl::StrFormat("--vdev=%s: cannot read '%s' (%s): give rx_pcap a capture file",
                        quotable(vdev), quotable(*file, kQuotedPathMax), std::strerror(errno)));
  }
  for (const char* key : {"iface", "rx_iface", "rx_iface_in", "tx_iface"}) {
    const auto interface = key_of(vdev, key);
    if (!interface) continue;
    if (auto status = check_interface(vdev, *interface); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

bool has_option(const std::vector<std::string>& arguments, std::string_view name) {
  return find(read(arguments), name) != nullptr;
}

absl::Status check_arguments(const std::vector<std::string>& arguments) {
  const Reading reading = read(arguments);
  if (!reading.unknown.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("EAL has no option %s: options of uroce stand behind --, those of EAL are "
                        "in DPDK's documentation",
                        quotable(reading.unknown)));
  }
  if (!reading.without_value.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s of EAL needs a value", quotable(reading.without_value)));
  }
  const Given* type = find(reading, "proc-type");
  if (type != nullptr && type->value != "primary") {
    return absl::InvalidArgumentError(
        absl::StrFormat("--proc-type=%s: uroce runs in primary processes only: leave it out, and "
                        "give --file-prefix NAME beside another DPDK program",
                        quotable(type->value)));
  }
  if (absl::Status status = check_memory(reading); !status.ok()) return status;
  if (absl::Status status = check_cpus(reading); !status.ok()) return status;
  for (const Given& given : reading.options) {
    if (given.name != "vdev") continue;
    if (absl::Status status = check_vdev(given.value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace uroce::worker
