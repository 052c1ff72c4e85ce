// SPDX-License-Identifier: BSD-3-Clause
// The sink gets what the level lets through, and nothing after it is taken away.
#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace uroce {
namespace {

TEST(Log, PassesSentencesUpToTheLevelToTheSink) {
  std::string seen;
  set_log_sink(
      [](void* context, LogLevel, std::string_view sentence) {
        static_cast<std::string*>(context)->append(sentence).append(";");
      },
      &seen);
  set_log_level(LogLevel::kWarning);
  log(LogLevel::kError, "a");
  log(LogLevel::kInfo, "b");
  set_log_level(LogLevel::kInfo);
  log(LogLevel::kInfo, "c");
  set_log_level(LogLevel::kWarning);
  set_log_sink(nullptr, nullptr);
  EXPECT_EQ(seen, "a;c;");
}

}  // namespace
}  // namespace uroce
