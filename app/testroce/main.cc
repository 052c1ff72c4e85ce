// SPDX-License-Identifier: BSD-3-Clause
// uroce-testroce: a prompt to try a port with: queue pairs, traffic, groups, counters.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <stdexcept>

#include "common/stop_signals.h"
#include "testroce/console.h"
#include "testroce/options.h"

namespace uroce::testroce {
namespace {

constexpr const char* kUsage =
    "uroce-testroce EAL-ARGUMENTS -- [--cmdline-file FILE] [--stats-period SECONDS] OPTIONS\n\n"
    "  --cmdline-file FILE     runs the commands of FILE first; the first that fails ends it\n"
    "  --stats-period SECONDS  prints the ports' packets every so often\n\n"
    "OPTIONS of uroce:\n";

// A line for each port, when the period has passed.
class Stats {
 public:
  Stats(uroce_context* context, unsigned period_seconds)
      : context_(context), period_(period_seconds), next_(Clock::now() + period_) {}

  void print_when_due() {
    if (period_.count() == 0 || Clock::now() < next_) return;
    next_ += period_;
    for (unsigned i = 0; i < uroce_device_count(context_); ++i) {
      Seen now;
      uroce_observe_counters(context_, i, see, &now);
      std::printf("port %u: sent %" PRIu64 " received %" PRIu64 " dropped %" PRIu64 " packets\n", i,
                  now.sent, now.received, now.dropped);
    }
    std::fflush(stdout);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t dropped = 0;
  };
  static void see(void* argument, const uroce_counter* counter) {
    auto* seen = static_cast<Seen*>(argument);
    const std::string name = counter->name;
    if (counter->group == UROCE_COUNTER_DROP) seen->dropped += counter->value;
    if (counter->group != UROCE_COUNTER_TRANSPORT) return;
    if (name == "sent_packets") seen->sent = counter->value;
    if (name == "received_packets") seen->received = counter->value;
  }

  uroce_context* const context_;
  const std::chrono::seconds period_;
  Clock::time_point next_;
};

// Until the session's objects are gone. Throws one sentence.
void run_session(uroce_context* context, const Options& options) {
  Session session(context);
  Stats stats(context, options.stats_period_seconds);
  if (!options.cmdline_file.empty()) run_file(session, options.cmdline_file);
  const unsigned failed = run_prompt(session, [&stats] { stats.print_when_due(); });
  if (failed != 0) throw std::runtime_error(std::to_string(failed) + " commands failed");
}

int start_and_run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.help) {
    std::printf("%s%s", kUsage, uroce_options_help());
    return 0;
  }
  app::catch_stop_signals();
  uroce_context* context = nullptr;
  if (uroce_start(static_cast<int>(options.rest.size()), options.rest.data(), &context) != 0) {
    throw std::runtime_error(uroce_error());
  }
  std::string error;
  try {
    run_session(context, options);
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  std::fflush(stdout);
  if (uroce_stop(context) != 0 && error.empty()) error = uroce_error();
  if (!error.empty()) throw std::runtime_error(error);
  return 0;
}

}  // namespace
}  // namespace uroce::testroce

int main(int argc, char** argv) {
  try {
    return uroce::testroce::start_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uroce-testroce: %s\n", error.what());
    return 1;
  }
}
