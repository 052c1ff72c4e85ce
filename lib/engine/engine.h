// SPDX-License-Identifier: BSD-3-Clause
// One queue's world: the QP table, the group table, the timers, dispatch in and schedule out.
//
// The engine is sans-IO: bursts of frames and the time go in, frames come out, it calls nobody. It
// has one owner at a time (EngineSeat), and nothing in it is locked. After construction it
// allocates nothing.
//
// Call order of one loop turn, by the owner:
//   handle_frames until the receive queue is empty or 4 bursts; after each, poll_handoff until 0
//   (before the frames are freed); at most N handle_command; handle_timeout when poll_timeout has
//   passed; poll_frames while it fills slots and the port takes them; poll_event until empty.
// handle_* may change what every poll_* returns; a poll_* changes only its own output, except that
// poll_frames also hears the doorbells, completes work requests (UD, errors) and arms timers. All
// getters are without effects.
#ifndef UROCE_ENGINE_ENGINE_H
#define UROCE_ENGINE_ENGINE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/types.h"
#include "engine/command.h"
#include "engine/device_shared.h"
#include "engine/doorbell.h"
#include "group/host_config.h"
#include "transport/transport_env.h"
#include "wire/frame.h"

namespace uroce::group {
class MembershipTable;
}

namespace uroce::engine {

class HostSide;

struct EngineConfig {
  uint32_t index = 0;
  DeviceShared* shared = nullptr;
  bool exclusive = false;  // posters and control calls come from the engine's own thread
  // Speak ARP, ND, echo, IGMP, MLD (engine 0 only). Not own: the kernel does; frames of those kinds
  // and frames with our own source MAC are dropped by name.
  bool own_port = true;
  MacAddress mac;
  uint16_t vlan_id = 0;            // 0: untagged
  uint32_t port_mtu_bytes = 1500;  // IP MTU, for IGMP/MLD reports
  // The newest versions to speak, as in group::HostConfig.
  uint8_t igmp_version = group::kNewestVersion;
  uint8_t mld_version = group::kNewestVersion;
  // The port lets frames for any MAC address through: the engine drops those that are not for it.
  bool port_filters_nothing = false;
  uint32_t groups_max = 8192;
  uint32_t memberships_max = 16384;
  uint32_t sources_max = 1024;  // of the memberships by source
  uint32_t neighbors_max = 1024;
  uint64_t seed = 0;           // for delays and hash keys; random in the product
  uint32_t burst_per_qp = 16;  // packets of one QP before the next one has its turn
  // Early request packets that all queue pairs together may have kept, at most 32768; 0: none is.
  uint32_t kept_packets_max = 1024;
  bool selective_repeat = true;  // false: every NAK is answered with plain go-back-N
  bool tail_probe = true;        // false: only the ACK timer notices what no NAK names
};

// A frame that another engine must see as well. The owner adds a reference for each.
struct Handoff {
  Token token{};
  uint32_t engine = 0;
  bool icrc_good = false;
  ReceiveTime arrival{};  // at the first engine, however often it is handed on
};

class Engine {
 public:
  explicit Engine(const EngineConfig& config);
  ~Engine();

  // Input. Bytes are borrowed for the call.
  void handle_frames(Time now, std::span<const RxFrame> frames);
  void handle_timeout(Time now);
  void handle_command(Time now, Command& command);
  // The loop found `gap` gone since its last turn: ACK timers are moved before any fires.
  void handle_clock_gap(Duration gap);

  // Whether poll_frames has anything to do. Asked first, because lending slots is not free.
  bool has_output(Time now) const;
  // Output. Returns how many of the lent slots are filled, from the first on.
  size_t poll_frames(Time now, std::span<TxSlot> slots);
  size_t poll_handoff(std::span<Handoff> out);
  // When handle_timeout has something to do; at once while completions wait for other engines.
  Time poll_timeout() const;
  std::optional<transport::Event> poll_event();

  // Posting threads: tell the engine that this QP slot has new work.
  Doorbells& doorbells();

  // Getters: any thread for counters; the owner for the rest.
  const transport::DropCounters& drops() const;
  const transport::TransportCounters& counters() const;
  const transport::QpContext* qp(Qpn qpn) const;
  const group::MembershipTable& groups() const;  // members are QP slots
  const HostSide* host() const;                  // nullptr: not engine 0 of an own port
  Duration shortest_armed_timeout() const;       // for the clock-gap rule

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_ENGINE_H
