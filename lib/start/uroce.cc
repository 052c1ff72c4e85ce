// SPDX-License-Identifier: BSD-3-Clause
// The C entry points of uroce.h. No exception and no C++ type crosses them.
#include "uroce/uroce.h"

#include <absl/strings/str_format.h>

#include <cerrno>
#include <string>

#include "base/last_error.h"
#include "base/log.h"
#include "config/command_line.h"
#include "nic/eal_memory.h"
#include "start/entry.h"
#include "start/face.h"
#include "start/made_ports.h"
#include "verbs/face.h"
#include "verbs/registered_memory.h"

namespace {

uroce_context* running = nullptr;

ib_device* as_device(void* handle) { return static_cast<ib_device*>(handle); }

// The kernel-shaped verbs. While devices are announced, their clients may map DPDK's memory.
class NativeFace final : public uroce::start::Face {
 public:
  void* open(uroce::device::Device& device) override { return uroce::verbs::open_device(device); }
  void announce(void* handle) override {
    if (announced_++ == 0) set_lookup(uroce::nic::find_eal_memory);
    uroce::verbs::announce_device(as_device(handle));
  }
  void withdraw(void* handle) override {
    uroce::verbs::withdraw_device(as_device(handle));
    if (--announced_ == 0) set_lookup(nullptr);
  }
  void close(void* handle) override { uroce::verbs::close_device(as_device(handle)); }
  void dispatch(const uroce::transport::Event& event) override {
    uroce::verbs::dispatch_event(event);
  }

 private:
  static void set_lookup(uroce::verbs::RegisteredMemory::Lookup lookup) {
    uroce::verbs::RegisteredMemory::instance().set_lookup(lookup);
  }

  uint32_t announced_ = 0;
} native_face;

int error_number(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return -EINVAL;
    case absl::StatusCode::kNotFound:
      return -ENODEV;
    case absl::StatusCode::kResourceExhausted:
      return -ENOMEM;
    case absl::StatusCode::kAlreadyExists:
      return -EADDRINUSE;
    case absl::StatusCode::kAborted:
      return -EALREADY;
    case absl::StatusCode::kPermissionDenied:
      return -EPERM;
    case absl::StatusCode::kUnavailable:
      return -EBUSY;
    default:
      return -EIO;
  }
}

int fail(const absl::Status& status) {
  uroce::set_last_error(std::string(status.message()));
  return error_number(status.code());
}

// Our arguments are judged before EAL is touched: DPDK can be started only once.
absl::StatusOr<uroce::config::Settings> read_settings(const std::vector<std::string>& own) {
  std::vector<const char*> pointers;
  pointers.reserve(own.size());
  for (const std::string& argument : own) pointers.push_back(argument.c_str());
  return uroce::config::parse_command_line(pointers);
}

// Ports that stand in our arguments with those of their driver become vdevs of EAL.
absl::Status make_ports(uroce::config::Settings& settings, bool adopt,
                        std::vector<std::string>& eal) {
  for (const uroce::config::PortSettings& port : settings.ports) {
    if (port.driver_arguments.empty() || !adopt) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "port %s: EAL runs already and makes no port from driver arguments (%s): make it with "
        "rte_eal_hotplug_add() and leave them out here",
        port.name, port.driver_arguments));
  }
  if (absl::Status status = uroce::start::complete_ports(settings); !status.ok()) return status;
  for (const uroce::config::PortSettings& port : settings.ports) {
    if (!port.driver_arguments.empty()) eal.push_back(uroce::start::eal_argument(port));
  }
  return absl::OkStatus();
}

int open_context(absl::StatusOr<uroce::worker::Eal> eal, const uroce::config::Settings& settings,
                 uroce_context** out) {
  if (!eal.ok()) return fail(eal.status());
  uroce::set_log_level(uroce::config::log_level_of(settings.log_level));
  auto context = uroce::start::Context::open(std::move(*eal), settings, native_face);
  if (!context.ok()) return fail(context.status());
  running = *out = new uroce_context{std::move(*context)};
  return 0;
}

int start(int argc, const char* const* argv, bool adopt, uroce_context** out) {
  uroce::set_last_error("");
  *out = nullptr;
  if (running != nullptr) {
    return fail(absl::AbortedError("uroce is running already in this process: stop it first"));
  }
  const std::span<const char* const> arguments(argv, static_cast<size_t>(argc));
  uroce::worker::SplitArguments split;
  if (adopt) {
    split.own.assign(arguments.begin(), arguments.end());
  } else {
    split = uroce::worker::split_arguments(arguments);
  }
  auto settings = read_settings(split.own);
  if (!settings.ok()) return fail(settings.status());
  if (absl::Status status = make_ports(*settings, adopt, split.eal); !status.ok()) {
    return fail(status);
  }
  return open_context(adopt ? uroce::worker::Eal::adopt() : uroce::worker::Eal::start(split.eal),
                      *settings, out);
}

// The library is built from code that throws only when memory runs out, and that happens where the
// tables of a device are made.
template <typename Function>
int guarded(Function&& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    uroce::set_last_error(
        "no memory for the tables of a device: lower a --limit (queue_pairs and memory_regions "
        "take most; doc/configuration.md), or give the process more");
    return -ENOMEM;
  } catch (const std::exception& error) {
    uroce::set_last_error(error.what());
    return -ENOMEM;
  }
}

struct CSink {
  void (*function)(void*, int, const char*) = nullptr;
  void* context = nullptr;
} c_sink;

}  // namespace

extern "C" {

int uroce_start(int argc, const char* const* argv, uroce_context** context) {
  return guarded([&] { return start(argc, argv, false, context); });
}

int uroce_adopt(int argc, const char* const* argv, uroce_context** context) {
  return guarded([&] { return start(argc, argv, true, context); });
}

int uroce_poll(uroce_context* context) { return static_cast<int>(context->context->poll()); }

int uroce_stop(uroce_context* context) {
  return guarded([context] {
    const absl::Status status = context->context->stop();
    running = nullptr;
    delete context;
    if (status.ok()) return 0;
    uroce::set_last_error(std::string(status.message()));
    return -EBUSY;
  });
}

unsigned int uroce_device_count(const uroce_context* context) {
  return static_cast<unsigned int>(context->context->units().size());
}

ib_device* uroce_device(uroce_context* context, unsigned int index) {
  auto& units = context->context->units();
  return index < units.size() ? as_device(units[index]->handle) : nullptr;
}

uint64_t uroce_clock_ns(const uroce_context* context) {
  return static_cast<uint64_t>(context->context->clock().now().time_since_epoch().count());
}

const char* uroce_error(void) { return uroce::last_error(); }

const char* uroce_version(void) { return UROCE_VERSION; }

const char* uroce_options_help(void) {
  static const std::string help = uroce::config::options_help();
  return help.c_str();
}

void uroce_set_log_sink(void (*sink)(void*, int, const char*), void* context) {
  c_sink = {sink, context};
  if (sink == nullptr) {
    uroce::set_log_sink(nullptr, nullptr);
    return;
  }
  uroce::set_log_sink(
      [](void*, uroce::LogLevel level, std::string_view sentence) {
        c_sink.function(c_sink.context, static_cast<int>(level), std::string(sentence).c_str());
      },
      nullptr);
}

}  // extern "C"
