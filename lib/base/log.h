// SPDX-License-Identifier: BSD-3-Clause
// The log sink: where the library's few sentences go. Control path only; never stdout.
#ifndef UROCE_BASE_LOG_H
#define UROCE_BASE_LOG_H

#include <string_view>

namespace uroce {

enum class LogLevel : int { kError = 0, kWarning = 1, kInfo = 2, kDebug = 3 };

// One call per sentence, without a newline, from any control thread. Must not throw.
using LogSink = void (*)(void* context, LogLevel level, std::string_view sentence);

// Replaces the sink (nullptr: back to stderr) and the most talkative level that is passed on.
// Not to be called while other threads log.
void set_log_sink(LogSink sink, void* context);
void set_log_level(LogLevel level);

void log(LogLevel level, std::string_view sentence);

}  // namespace uroce

#endif  // UROCE_BASE_LOG_H
