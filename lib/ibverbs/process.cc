// SPDX-License-Identifier: BSD-3-Clause
// Reading the configuration, starting, driving, ending.
#include "ibverbs/process.h"

#include <absl/strings/str_format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/quotable.h"
#include "config/driver_keys.h"
#include "ibverbs/describe.h"
#include "ibverbs/eal_arguments.h"
#include "ibverbs/environment.h"
#include "ibverbs/events.h"
#include "ibverbs/new_descriptors.h"
#include "nic/memif_end.h"
#include "worker/eal.h"

namespace uroce::ibverbs {
namespace {

constexpr auto kEndLimit = std::chrono::seconds(2);  // an orderly end takes less
constexpr Duration kTurnLimit{200'000'000};          // for somebody else's turn

// Signals are the program's, and its threads take them. Those that an access of this thread's own
// raises go to the program's handler, if it has one.
sigset_t signals_of_others() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
    sigdelset(&signals, fault);
  }
  return signals;
}

void deliver_port_event(void* context, transport::EventType type) {
  dispatch_port_event(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context)), type);
}

// Gives each memif port whose role is open the one that is free. A server's socket is free.
absl::Status choose_memif_roles(config::Settings& settings, nic::MemifEnds& ends) {
  for (config::PortSettings& port : settings.ports) {
    const auto socket = config::driver_value(port, "socket");
    const auto role = config::driver_value(port, "role");
    if (!port.name.starts_with("net_memif") || !socket || (role && *role != "server") ||
        config::driver_value(port, "socket-abstract") == "yes") {
      continue;
    }
    const auto server = ends.choose_server(std::string(*socket));
    if (!server.ok()) return server.status();
    if (role && !*server) {
      return absl::AlreadyExistsError(absl::StrFormat(
          "memif socket %s: another process is its server: leave out role=server, or give "
          "socket=PATH another name",
          quotable(*socket, kQuotedPathMax)));
    }
    if (role) continue;
    if (auto status = config::set_driver_key(port, "role", *server ? "server" : "client");
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

__attribute__((constructor)) void install() { install_runtime(&Process::instance()); }

}  // namespace

// Contexts of this face are the application's; a device has nothing but its port's events.
class Process::Face final : public start::Face {
 public:
  void* open(device::Device& device) override {
    device.set_event_sink(deliver_port_event, reinterpret_cast<void*>(opened_++));
    return nullptr;
  }
  void announce(void*) override {}
  void withdraw(void*) override {}
  void close(void*) override {}
  void dispatch(const transport::Event& event) override { dispatch_event(event); }

 private:
  uintptr_t opened_ = 0;
};

class Process::Engines final : public Driver {
 public:
  explicit Engines(start::Context& context) : context_(context) {}
  Time now() const override { return context_.clock().now(); }
  uint32_t drive(Time& next) override { return context_.poll(&next); }
  uint64_t turns() const override { return context_.turns(); }
  void sleep(Duration length) override {
    const timespec time{length.count() / 1'000'000'000, length.count() % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }

 private:
  start::Context& context_;
};

Process::Process() {
  pthread_atfork([] { instance().before_fork(); }, [] { instance().after_fork(); },
                 [] { instance().in_child(); });
}

Process& Process::instance() {
  static Process& process = *new Process;
  return process;
}

// lock_ is held. The number of devices, or a negative errno.
int Process::settle() {
  if (!settings_) {
    settings_ = settings_of_environment();
    if (!settings_->ok()) {
      log(LogLevel::kError, std::string(settings_->status().message()));
    } else if ((*settings_)->ports.empty()) {
      log(LogLevel::kWarning,
          "no port is configured, so there is no RDMA device: give uroce-run, or UROCE_OPTIONS, "
          "\"--port net_af_packet,iface=eth1\" or the like, or name a profile (UROCE_CONFIG)");
    } else {
      set_log_level(config::log_level_of((*settings_)->log_level));
    }
  }
  return settings_->ok() ? static_cast<int>((*settings_)->ports.size()) : -EINVAL;
}

int Process::device_count() {
  const std::lock_guard guard(lock_);
  return settle();
}

// The child of a fork goes by what its parent saw: libnl has locks of its own, which another thread
// may have held then.
DeviceDescription Process::describe(uint32_t index) {
  const std::lock_guard guard(lock_);
  if (settle() <= static_cast<int>(index)) return {};
  const auto seen = described_.find(index);
  if (has_lost_engines() && seen != described_.end()) return seen->second;
  return described_[index] = describe_device(**settings_, index);
}

device::Device* Process::running(uint32_t index) {
  start::Context* const context = context_.load(std::memory_order_acquire);
  if (context == nullptr || index >= context->units().size()) return nullptr;
  return &context->units()[index]->device();
}

uint32_t Process::drive() {
  start::Context* const context = context_.load(std::memory_order_acquire);
  return context == nullptr ? 0 : context->poll();
}

uint32_t Process::drive_in_turn() {
  start::Context* const context = context_.load(std::memory_order_acquire);
  return context == nullptr ? 0 : context->poll(nullptr, kTurnLimit);
}

void Process::await_turns() {
  start::Context* const context = context_.load(std::memory_order_acquire);
  if (context != nullptr) context->await_turns();
}

int Process::start(uint32_t index, device::Device*& device) {
  device = running(index);
  if (device != nullptr) return 0;
  const std::lock_guard guard(lock_);
  if (has_lost_engines()) {
    if (!std::exchange(child_told_, true)) {
      log(LogLevel::kError,
          "this process was forked from one whose RDMA device runs, and has none: fork before the "
          "first verbs object is made, or exec a program of its own");
    }
    return -EIO;
  }
  if (const int error = start_once(); error != 0) return error;
  device = running(index);
  return device != nullptr ? 0 : -ENODEV;
}

// lock_ is held.
int Process::start_once() {
  if (started_) return *started_;
  if (const int count = settle(); count <= 0) return count < 0 ? count : -ENODEV;
  const absl::Status status = spawn();
  started_ = status.ok() ? 0 : -EIO;
  if (status.ok()) {
    std::atexit([] { instance().finish(); });
  } else {
    log(LogLevel::kError, absl::StrFormat("the RDMA device cannot start: %s", status.message()));
  }
  return *started_;
}

// The thread inherits its signal mask, and so do those that DPDK makes.
absl::Status Process::spawn() {
  const sigset_t blocked = signals_of_others();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  auto entry = [](void* process) -> void* {
    static_cast<Process*>(process)->run();
    return nullptr;
  };
  const int error = pthread_create(&thread_, nullptr, entry, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "no thread for it (%s): raise ulimit -u, or the cgroup's pids.max", std::strerror(error)));
  }
  absl::Status status = opened_.get_future().get();
  if (!status.ok()) pthread_join(thread_, nullptr);
  return status;
}

absl::Status Process::open() {
  config::Settings settings = **settings_;
  nic::MemifEnds ends;  // until the ports have started
  if (absl::Status status = choose_memif_roles(settings, ends); !status.ok()) return status;
  NewDescriptors descriptors;
  auto eal = worker::Eal::start(eal_arguments(settings, Machine::look()));
  if (!eal.ok()) return eal.status();
  face_ = std::make_unique<Face>();
  auto context = start::Context::open(std::move(*eal), settings, *face_);
  if (!context.ok()) return context.status();
  descriptors.close_on_exec();
  opening_ = context->release();
  engines_ = std::make_unique<Engines>(*opening_);
  const Machine machine = Machine::look();
  // On one CPU whoever is to answer cannot run while we spin.
  const uint32_t spin_us = CPU_COUNT(&machine.cpus) > 1 ? settings.spin_us : 0;
  const Pace pace{std::chrono::microseconds(spin_us), std::chrono::microseconds(settings.sleep_us)};
  progress_ = std::make_unique<Progress>(*engines_, pace);
  context_.store(opening_, std::memory_order_release);
  return absl::OkStatus();
}

void Process::run() {
  pthread_setname_np(pthread_self(), "uroce-progress");
  prctl(PR_SET_TIMERSLACK, 1UL);  // a sleep ends when it says, not up to 50 us later
  const absl::Status status = open();
  const bool ok = status.ok();
  opened_.set_value(status);
  if (!ok) return;
  progress_->run();
  if (absl::Status left = opening_->leave(); !left.ok()) {
    log(LogLevel::kWarning, std::string(left.message()));
  }
}

// Many programs call exit() in a handler of a signal, which may have come in the middle of one of
// our calls, or of malloc(): locks that this thread holds then will never be given back. So the
// thread of ours does the work and this one waits, no longer than kEndLimit; and in the middle of a
// turn not at all, since nothing can move.
void Process::finish() {
  const start::Context* const context = context_.load(std::memory_order_acquire);
  if (context == nullptr || finished_.exchange(true)) return;  // the child of a fork, too
  if (context->caller_is_inside()) return;
  progress_->stop();
  timespec limit{};
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += kEndLimit.count();
  pthread_clockjoin_np(thread_, nullptr, CLOCK_MONOTONIC, &limit);
}

// What the child needs to list, open and close devices.
void Process::before_fork() {
  lock_.lock();
  async_queues_lock().lock();
}

void Process::after_fork() {
  async_queues_lock().unlock();
  lock_.unlock();
}

// Both are held by this thread, since before_fork(). Nothing of the parent's engine is touched: its
// threads are not here, its memory is shared.
void Process::in_child() {
  if (context_.exchange(nullptr, std::memory_order_acq_rel) != nullptr) {
    engines_stayed_behind.store(true, std::memory_order_relaxed);
  }
  after_fork();
}

}  // namespace uroce::ibverbs
