// SPDX-License-Identifier: BSD-3-Clause
// Everything a user can set, validated once and never changed afterwards.
#ifndef UROCE_CONFIG_SETTINGS_H
#define UROCE_CONFIG_SETTINGS_H

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/address_text.h"
#include "base/log.h"

namespace uroce::config {

// Who drives the engines (doc/execution.md).
enum class DriveMode : uint8_t { kInline, kShared, kWorker };
enum class Ownership : uint8_t { kAuto, kOwn, kShared };

struct PortSettings {
  std::string name;  // DPDK port name, such as net_af_packet0
  // Of a virtual device that is made for the port: "iface=eth1,framecnt=512"; empty: EAL has it.
  std::string driver_arguments;
  Ownership ownership = Ownership::kAuto;
  std::vector<Prefix> addresses;  // own: its; shared: which of the kernel's; at most 16
  Gid gateway_ipv4;               // zero: none
  Gid gateway_ipv6;
  uint16_t vlan_id = 0;         // 1 … 4094; 0: untagged
  uint32_t mtu_bytes = 0;       // IP MTU of a port that cannot tell (memif); 0: ask the port
  uint32_t queue_count = 1;     // receive and transmit queues, one engine each: 1 … 16
  uint32_t descriptors = 1024;  // per queue: 64 … 32768
  bool promiscuous = false;
  bool privileged_qkey = false;  // users may set Q_Keys with bit 31
  // Own: the newest version to speak, 0: be silent; nothing: the newest there is.
  std::optional<uint8_t> igmp_version;  // 0 … 3
  std::optional<uint8_t> mld_version;   // 0 … 2
};

// Limits of a device; all memory for them is taken at start.
struct LimitSettings {
  uint32_t queue_pairs = 1024;  // per engine, a power of two: 64 … 2^20
  uint32_t completion_queues = 4096;
  uint32_t memory_regions = 65536;     // 16 … 2^23
  uint32_t multicast_groups = 8192;    // per engine
  uint32_t multicast_members = 65536;  // per engine: (group, QP) pairs
  uint32_t multicast_sources = 8192;   // of a device: (group, QP, source) triples
  uint32_t members_per_group = 1024;   // QPs
};

struct Settings {
  DriveMode mode = DriveMode::kInline;
  std::vector<PortSettings> ports;  // none: every port that EAL has, as it is
  uint32_t rings = 0;               // crosswise net_ring pairs to make: 0 … 8
  std::vector<uint32_t> cores;      // worker mode: lcores that poll; none: all but the main one
  std::string fault;                // faults on receive, nic/fault.h; empty: none
  std::string log_level = "warning";
  // The drop-in library's progress thread, in microseconds.
  uint32_t spin_us = 10;    // polls on for so long after the last packet: 0 … 1000000
  uint32_t sleep_us = 100;  // sleeps at most so long between two looks: 1 … 10000
  LimitSettings limits;
};

// What a valid log_level means.
LogLevel log_level_of(const std::string& name);

// OK, or one sentence that names the setting, its value and what would do.
absl::Status validate(const Settings& settings);

}  // namespace uroce::config

#endif  // UROCE_CONFIG_SETTINGS_H
