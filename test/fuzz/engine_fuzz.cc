// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a program against a whole host: frames of a peer that obeys no rule, time, and calls
// of an application. Whatever comes, the checkers of engine/ and of the simulator hold.
//
// test/fuzz/engine/steps.h has the instructions, packets.h those that make frames.
#include <string_view>

#include "base/log.h"
#include "test/fuzz/engine/fuzz_host.h"
#include "test/fuzz/engine/program.h"
#include "test/fuzz/engine/sent_frames.h"
#include "test/fuzz/engine/steps.h"

// What an input has freed is out of use until it ends, which needs less than this; the sanitizer's
// own 256 MB would have every input begin on pages that the system has yet to provide.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=16"; }

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Connections that give up say so; here that is nothing to tell.
  uroce::set_log_sink([](void*, uroce::LogLevel, std::string_view) {}, nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int kStepsMax = 256;
  uroce::fuzz::FuzzHost host;
  host.world().tap = [&host](const uroce::sim::Host&, std::span<const uint8_t> frame) {
    uroce::fuzz::check_sent(host, frame);
  };
  uroce::fuzz::Program program({data, size});
  for (int step = 0; step < kStepsMax && !program.done(); ++step) {
    uroce::fuzz::run_step(host, program);
  }
  host.close();
  return 0;
}
