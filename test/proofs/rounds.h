// SPDX-License-Identifier: BSD-3-Clause
// The steady state that the proofs watch: RC ping-pong and UD messages between two devices.
#ifndef UROCE_TEST_PROOFS_ROUNDS_H
#define UROCE_TEST_PROOFS_ROUNDS_H

#include <uroce/ib_verbs.h>
#include <uroce/uroce.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/endpoint.h"

namespace uroce::proofs {

// How the worker and the thread that waits for it are placed. A thread that waits spins where it
// has a CPU of its own; on a machine with one it sleeps a moment, so that the worker may run.
struct Place {
  bool worker = false;
  bool one_cpu = false;
  bool sleeps() const { return worker && one_cpu; }
  // A round with sleeps takes longer by far, and the longer the busier the CPU is.
  uint32_t warm_up() const { return sleeps() ? 200 : 2'000; }
  uint32_t rounds() const { return sleeps() ? 1'000 : 100'000; }
};

// Of the CPUs that the process may use; before start(), which pins threads.
Place find_place(bool worker);

// Starts two devices joined by memory rings: polled by the caller, or by lcore 1. nullptr: refused,
// and said so.
uroce_context* start(const Place& place);

// The main() of a proof: `run` gets what the command line says, its status is that of the program;
// an exception is said and gives 1.
int prove(const char* name, int argc, char** argv, int (*run)(bool worker, bool broken));

class Rounds {
 public:
  Rounds(uroce_context* context, const Place& place);

  // Each round: a message to the right and back by RC, one to the right by UD, all completed and
  // compared. The left CQ is armed, and now and then it is waited for its handler, so that the
  // thread that runs it lies asleep at many an event. Neither allocates nor makes a system call of
  // its own, except to sleep on one CPU.
  // False: something is missing after some seconds (of the time-stamp counter), or wrong.
  bool run(uint32_t rounds);

 private:
  static constexpr uint32_t kNotifiedRounds = 32;  // one of so many waits for the handler

  static app::EndpointOptions options(ib_qp_type type);
  app::EndpointOptions notified_options();
  bool arm();
  bool wait_for_handler();
  bool send(app::Endpoint& from, uint32_t number);
  bool send_datagram(uint32_t number);
  void wait() const;
  bool finish(app::Endpoint& at, uint32_t sends, uint32_t receives, uint32_t number);
  static bool judge(app::Endpoint& at, const ib_wc& wc, uint32_t number);

  uroce_context* const context_;
  const Place place_;
  std::atomic<uint64_t> handled_{0};  // calls of left_'s completion handler
  uint64_t handled_before_ = 0;
  app::Endpoint left_, right_;
  app::Endpoint datagram_left_, datagram_right_;
  std::optional<app::AddressHandle> ah_;
  uint32_t number_ = 0;
};

}  // namespace uroce::proofs

#endif  // UROCE_TEST_PROOFS_ROUNDS_H
