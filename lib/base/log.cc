// SPDX-License-Identifier: BSD-3-Clause
// The log sink; by default a line on stderr for warnings and errors.
#include "base/log.h"

#include <cstdio>

namespace uroce {
namespace {

void to_stderr(void*, LogLevel level, std::string_view sentence) {
  static constexpr const char* kNames[] = {"error", "warning", "info", "debug"};
  std::fprintf(stderr, "uroce: %s: %.*s\n", kNames[static_cast<int>(level)],
               static_cast<int>(sentence.size()), sentence.data());
}

struct Sink {
  LogSink function = to_stderr;
  void* context = nullptr;
  LogLevel level = LogLevel::kWarning;
} sink;

}  // namespace

void set_log_sink(LogSink function, void* context) {
  sink.function = function != nullptr ? function : to_stderr;
  sink.context = function != nullptr ? context : nullptr;
}

void set_log_level(LogLevel level) { sink.level = level; }

void log(LogLevel level, std::string_view sentence) {
  if (level <= sink.level) sink.function(sink.context, level, sentence);
}

}  // namespace uroce
