// SPDX-License-Identifier: BSD-3-Clause
// Starting bottom up and stopping top down.
#include "start/context.h"

#include <absl/strings/str_format.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/log.h"
#include "engine/host_side.h"
#include "nic/lcore_identity.h"
#include "start/port_plan.h"
#include "worker/quiet.h"

namespace uroce::start {
namespace {

constexpr Duration kLookPeriod{100'000'000};  // how often links and kernel addresses are looked at
constexpr Duration kDrainLimit{300'000'000};  // what is owed to peers has this long to go out
constexpr Duration kLeaveLimit{800'000'000};  // leaves of groups, with their repetitions
constexpr Duration kSeatLimit{200'000'000};   // for a turn that is under way

std::vector<std::string> present_ports() {
  std::vector<std::string> names;
  for (auto port = static_cast<uint16_t>(rte_eth_find_next_owned_by(0, RTE_ETH_DEV_NO_OWNER));
       port < RTE_MAX_ETHPORTS; port = static_cast<uint16_t>(rte_eth_find_next_owned_by(
                                    static_cast<uint16_t>(port + 1), RTE_ETH_DEV_NO_OWNER))) {
    char name[RTE_ETH_NAME_MAX_LEN];
    if (rte_eth_dev_get_name_by_port(port, name) == 0) names.emplace_back(name);
  }
  return names;
}

}  // namespace

Context::Context(worker::Eal eal, const config::Settings& settings, Face& face)
    : eal_(std::move(eal)), settings_(settings), face_(face) {}

absl::StatusOr<std::unique_ptr<Context>> Context::open(worker::Eal eal,
                                                       const config::Settings& settings,
                                                       Face& face) {
  std::unique_ptr<Context> context(new Context(std::move(eal), settings, face));
  if (absl::Status status = context->open_ports(); !status.ok()) return status;
  if (settings.mode == config::DriveMode::kWorker) {
    if (absl::Status status = context->start_workers(); !status.ok()) return status;
  } else {
    context->start_control_thread(0);
  }
  if (absl::Status status = context->start_devices(); !status.ok()) return status;
  return context;
}

Context::~Context() {
  if (stopped_) return;
  if (control_ != nullptr) control_->stop();
  for (auto& worker : workers_) worker->stop();
  control_.reset();
  for (auto& unit : units_) {
    if (unit->handle != nullptr) face_.close(unit->handle);
  }
  if (absl::Status status = close_ports(); !status.ok()) {
    log(LogLevel::kError, std::string(status.message()));
  }
  units_.clear();
}

absl::Status Context::open_ports() {
  if (settings_.rings > 0) {
    auto rings = nic::RingPairs::make(settings_.rings, ring_queue_count(settings_));
    if (!rings.ok()) return rings.status();
    rings_ = std::move(*rings);
  }
  const auto plan = plan_ports(settings_, present_ports());
  if (!plan.ok()) return plan.status();
  engine::EngineDriver driver;
  driver.context = this;
  driver.now = [](void* self) { return static_cast<Context*>(self)->clock_.now(); };
  driver.turn = [](void* self, uint32_t) { static_cast<Context*>(self)->turn_all(); };
  for (nic::PortConfig config : *plan) {
    config.now = driver.now;
    config.now_context = driver.context;
    auto port = nic::Port::open(config);
    if (!port.ok()) return port.status();
    if (absl::Status status = check_has_address((*port)->info(), (*port)->driver(), config);
        !status.ok()) {
      return status;
    }
    units_.push_back(std::make_unique<Unit>(absl::StrFormat("uroce%d", units_.size()),
                                            std::move(*port), settings_, driver, ids_));
  }
  return absl::OkStatus();
}

absl::Status Context::start_workers() {
  std::vector<uint32_t> cores = settings_.cores;
  if (cores.empty()) {
    for (unsigned core = rte_get_next_lcore(~0u, 1, 0); core < RTE_MAX_LCORE;
         core = rte_get_next_lcore(core, 1, 0)) {
      cores.push_back(core);
    }
  }
  if (cores.empty()) {
    return absl::InvalidArgumentError(
        "worker mode needs an lcore beside the main one: give EAL two, such as -l 0,1 (or "
        "--lcores '0@0,1@0' on one CPU), or use --mode inline");
  }
  start_control_thread(static_cast<uint32_t>(cores.size()));
  for (uint32_t lane = 0; lane < cores.size(); ++lane) {
    workers_.push_back(std::make_unique<worker::Worker>(cores[lane], clock_, *control_, lane));
  }
  uint32_t next = 0;
  for (auto& unit : units_) {
    for (auto& loop : unit->loops()) {
      worker::Worker& worker = *workers_[next++ % workers_.size()];
      worker.add(loop.get());
      unit->port().check_core(static_cast<int>(rte_lcore_to_socket_id(worker.lcore())));
    }
  }
  for (auto& worker : workers_) {
    if (absl::Status status = worker->start(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void Context::start_control_thread(uint32_t lanes) {
  const worker::EventSink sink{
      [](void* face, const transport::Event& event) { static_cast<Face*>(face)->dispatch(event); },
      &face_};
  control_ = std::make_unique<worker::ControlThread>(
      lanes, sink, [](void* self) { static_cast<Context*>(self)->look_at_ports(); }, this,
      kLookPeriod);
}

absl::Status Context::start_devices() {
  for (auto& unit : units_) {
    unit->handle = face_.open(unit->device());
    if (const int error = unit->device().start(); error != 0) {
      return absl::InternalError(absl::StrFormat("device %s of port %s cannot start: %s",
                                                 unit->device().name(), unit->port().info().name,
                                                 strerror(-error)));
    }
  }
  for (auto& unit : units_) face_.announce(unit->handle);
  return absl::OkStatus();
}

// On the control thread. An inline device is only looked at by the thread that drives it.
void Context::look_at_ports() {
  const bool worker = settings_.mode == config::DriveMode::kWorker;
  for (auto& unit : units_) {
    unit->port().calibrate_clock();
    unit->port().look_at_progress();
    if (settings_.mode == config::DriveMode::kShared) reconnect(*unit);
    const bool link = unit->link_watch().changed();
    const bool addresses = unit->address_watch().changed();
    if (worker && link) unit->device().refresh_link();
    unit->rescan_due = unit->rescan_due || addresses;
    if (worker && unit->rescan_due) unit->rescan_due = unit->device().rescan_addresses() != 0;
    if (!worker && (link || addresses)) ports_changed_.store(true, std::memory_order_release);
  }
}

// Nobody polls a port that is restarted, or that did not start again: whoever polls has its
// engines.
void Context::reconnect(Unit& unit) {
  if (!unit.port().can_reconnect()) return;
  for (auto& loop : unit.loops()) {
    while (!unit.port_is_down && !loop->seat().try_take()) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  unit.port_is_down = !unit.port().restart();
  if (unit.port_is_down) return;
  for (auto& loop : unit.loops()) loop->seat().give_back();
}

// One try at least.
bool Context::take(engine::EngineSeat& seat, Time end) const {
  bool taken = seat.try_take();
  while (!taken && clock_.now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    taken = seat.try_take();
  }
  return taken;
}

uint32_t Context::turn_all(Time* next, Duration patience) {
  if (settings_.mode == config::DriveMode::kWorker) return 0;
  nic::take_lcore_identity();
  const bool shared = settings_.mode == config::DriveMode::kShared;
  const Time begin = clock_.now();
  uint32_t moved = 0;
  for (auto& unit : units_) {
    for (auto& loop : unit->loops()) {
      if (shared && !take(loop->seat(), begin + patience)) continue;
      // Others may have run turns since `begin`.
      const Time now = shared ? clock_.now() : begin;
      if (!turns_ended_.load(std::memory_order_relaxed)) {  // the seat orders it
        moved += loop->turn(now);
        if (next != nullptr) *next = std::min(*next, loop->seat().engine().poll_timeout());
      }
      if (shared) loop->seat().give_back();
    }
  }
  return moved;
}

uint64_t Context::turns() const {
  uint64_t turns = 0;
  for (const auto& unit : units_) {
    for (const auto& loop : unit->loops()) turns += loop->counters().turns.value();
  }
  return turns;
}

// Events are taken while the engine is ours and delivered when it is not.
void Context::deliver_events() {
  const bool shared = settings_.mode == config::DriveMode::kShared;
  for (auto& unit : units_) {
    for (auto& loop : unit->loops()) {
      for (;;) {
        if (shared && !loop->seat().try_take()) break;
        transport::Event event{};
        const bool any = loop->next_event(event);
        if (shared) loop->seat().give_back();
        if (!any) break;
        face_.dispatch(event);
      }
    }
  }
}

uint32_t Context::poll(Time* next, Duration patience) {
  if (next != nullptr) *next = kNever;
  const uint32_t moved = turn_all(next, patience);
  deliver_events();
  if (ports_changed_.load(std::memory_order_relaxed) &&
      ports_changed_.exchange(false, std::memory_order_acquire)) {
    for (auto& unit : units_) {
      unit->device().refresh_link();
      if (unit->port().address_if_index() != 0) unit->device().rescan_addresses();
    }
  }
  return moved;
}

bool Context::groups_are_left() const {
  for (const auto& unit : units_) {
    const engine::HostSide* host = unit->seat(0).engine().host();
    if (host != nullptr && host->groups_leaving() != 0) return false;
  }
  return true;
}

void Context::await_turns() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Time end = clock_.now() + kSeatLimit;
  for (auto& unit : units_) {
    for (auto& loop : unit->loops()) {
      const EpochSlot& epoch = loop->seat().epoch();
      const uint64_t snapshot = epoch.snapshot();
      while (!epoch.quiet_since(snapshot) && clock_.now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    }
  }
}

bool Context::caller_is_inside() const {
  for (const auto& unit : units_) {
    for (const auto& loop : unit->loops()) {
      if (loop->seat().held_by_caller()) return true;
    }
  }
  return false;
}

bool Context::some_link_is_up() {
  for (auto& unit : units_) {
    if (unit->device().port_state().info.link_up) return true;
  }
  return false;
}

// Lets the engines run until nothing has moved for a while and no leave is still to be repeated,
// but for `limit` at most, and only where somebody may hear it.
void Context::run_until_quiet(Duration limit) {
  std::vector<const worker::LoopCounters*> counters;
  for (const auto& unit : units_) {
    for (const auto& loop : unit->loops()) counters.push_back(&loop->counters());
  }
  worker::Quiet quiet(counters);
  const Time end = clock_.now() + limit;
  while (!(quiet.reached(clock_.now()) && groups_are_left()) && clock_.now() < end &&
         some_link_is_up()) {
    if (settings_.mode == config::DriveMode::kWorker) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else {
      turn_all();
    }
  }
}

void Context::finish_work() {
  for (auto& unit : units_) {
    if (unit->handle != nullptr) face_.withdraw(unit->handle);
  }
  run_until_quiet(kDrainLimit);  // ACKs that are owed
  for (auto& unit : units_) unit->device().shut_down();
  run_until_quiet(kLeaveLimit);  // leaves, and flushed work
  if (settings_.mode != config::DriveMode::kWorker) deliver_events();
}

absl::Status Context::stop() {
  stopped_ = true;
  finish_work();
  // Handlers may be inside control calls, which need the workers: they end first. Objects that are
  // left are freed when nobody can use them any more, their handles here and the rest with the
  // unit.
  control_->stop();
  for (auto& worker : workers_) worker->stop();
  workers_.clear();
  control_.reset();
  for (auto& unit : units_) {
    if (unit->handle != nullptr) face_.close(unit->handle);
    unit->handle = nullptr;
  }
  absl::Status closed = close_ports();
  units_.clear();
  return closed;
}

absl::Status Context::leave() {
  stopped_ = true;
  finish_work();
  control_->stop();
  end_turns();
  return close_ports();
}

// Whoever takes a seat from now on runs commands, but no turn. One that is held for long belongs to
// a thread that will not go on, such as the one that ends the process from inside a turn.
void Context::end_turns() {
  turns_ended_.store(true, std::memory_order_relaxed);
  const Time end = clock_.now() + kSeatLimit;
  for (auto& unit : units_) {
    for (auto& loop : unit->loops()) {
      if (take(loop->seat(), end)) loop->seat().give_back();
    }
  }
}

// Two passes: a frame of one port may still lie in another port's rings.
absl::Status Context::close_ports() {
  for (auto& unit : units_) {
    for (auto& loop : unit->loops()) loop->drain();
    unit->port().drain();
  }
  rings_.drain();
  absl::Status first = absl::OkStatus();
  for (auto& unit : units_) {
    if (absl::Status status = unit->port().close(); !status.ok() && first.ok()) first = status;
  }
  return first;
}

}  // namespace uroce::start
