// SPDX-License-Identifier: BSD-3-Clause
// Everything that runs: EAL, ports, units, and whoever drives them.
#ifndef UROCE_START_CONTEXT_H
#define UROCE_START_CONTEXT_H

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id_source.h"
#include "config/settings.h"
#include "nic/ring_pairs.h"
#include "start/face.h"
#include "start/unit.h"
#include "worker/clock.h"
#include "worker/control_thread.h"
#include "worker/eal.h"
#include "worker/worker.h"

namespace uroce::start {

class Context {
 public:
  // `eal` is running. On an error everything that was opened is closed again.
  static absl::StatusOr<std::unique_ptr<Context>> open(worker::Eal eal,
                                                       const config::Settings& settings,
                                                       Face& face);
  ~Context();

  // Inline modes: one turn of every loop, then events. Packets moved. `next`, if given: when an
  // engine that was driven wants that again at the latest. `patience`, shared mode: how long to
  // wait for somebody else's turn; a loop that is not to be had in time is left out.
  uint32_t poll(Time* next = nullptr, Duration patience = {});
  // Turns of all loops so far, whoever drove them.
  uint64_t turns() const;
  // Returns when every turn that was under way has ended, or after a fifth of a second. Any thread
  // that is not inside one.
  void await_turns();
  // Whether the calling thread is in the middle of a turn: in a handler of a signal.
  bool caller_is_inside() const;
  // The orderly end; the destructor alone would drop posted work and groups.
  absl::Status stop();
  // Shared mode: the end in a process whose other threads may be in the middle of any call. What is
  // owed to peers goes out, groups are left, ports are closed; objects stay, and nothing moves any
  // more. The context is not to be destroyed.
  absl::Status leave();

  std::vector<std::unique_ptr<Unit>>& units() { return units_; }
  const config::Settings& settings() const { return settings_; }
  worker::TscClock clock() const { return clock_; }

 private:
  Context(worker::Eal eal, const config::Settings& settings, Face& face);

  absl::Status open_ports();
  absl::Status start_workers();
  absl::Status start_devices();
  void start_control_thread(uint32_t lanes);
  bool take(engine::EngineSeat& seat, Time end) const;
  uint32_t turn_all(Time* next = nullptr, Duration patience = {});
  void deliver_events();
  void look_at_ports();
  void reconnect(Unit& unit);
  bool groups_are_left() const;
  bool some_link_is_up();
  void run_until_quiet(Duration limit);
  void finish_work();
  void end_turns();
  absl::Status close_ports();

  worker::Eal eal_;
  const config::Settings settings_;
  Face& face_;
  const worker::TscClock clock_;
  CsprngIdSource ids_;
  nic::RingPairs rings_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::unique_ptr<worker::ControlThread> control_;
  std::vector<std::unique_ptr<worker::Worker>> workers_;
  // Inline modes: the control thread saw a link or kernel addresses change; the next poll looks.
  std::atomic<bool> ports_changed_{false};
  std::atomic<bool> turns_ended_{false};  // leave(): engines are driven no more
  bool stopped_ = false;
};

}  // namespace uroce::start

#endif  // UROCE_START_CONTEXT_H
