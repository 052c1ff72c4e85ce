// SPDX-License-Identifier: BSD-3-Clause
// The C entry points of uroce.h. No exception and no C++ type crosses them.
#include "uroce/uroce.h"

#include <cerrno>
#include <string>

#include "base/last_error.h"
#include "base/log.h"
#include "config/command_line.h"
#include "start/entry.h"

namespace {

uroce_context* running = nullptr;

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

void apply_log_level(const std::string& name) {
  using uroce::LogLevel;
  LogLevel level = LogLevel::kWarning;
  if (name == "error") level = LogLevel::kError;
  if (name == "info") level = LogLevel::kInfo;
  if (name == "debug") level = LogLevel::kDebug;
  uroce::set_log_level(level);
}

// Our arguments are judged before EAL is touched: DPDK can be started only once.
absl::StatusOr<uroce::config::Settings> read_settings(const std::vector<std::string>& own) {
  std::vector<const char*> pointers;
  pointers.reserve(own.size());
  for (const std::string& argument : own) pointers.push_back(argument.c_str());
  return uroce::config::parse_command_line(pointers);
}

int open_context(absl::StatusOr<uroce::worker::Eal> eal, const uroce::config::Settings& settings,
                 uroce_context** out) {
  if (!eal.ok()) return fail(eal.status());
  apply_log_level(settings.log_level);
  auto context = uroce::start::Context::open(std::move(*eal), settings);
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
  const auto settings = read_settings(split.own);
  if (!settings.ok()) return fail(settings.status());
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
  return index < units.size() ? units[index]->handle : nullptr;
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
