// SPDX-License-Identifier: BSD-3-Clause
// uroce-memif-tap: a tap in a wire of memif. What comes at one socket goes out at the other one,
// and into a capture.
//
//   uroce-memif-tap CAPTURE FRAMES SOCKET SOCKET
//
// It is the server at both sockets, says "ready", and passes frames on until SIGTERM; the first
// FRAMES of them are captured. Nothing is lost that it has taken, unless it is for an end that
// nobody has connected to.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "capture/writer.h"
#include "common/stop_signals.h"
#include "ibverbs/eal_arguments.h"
#include "ibverbs/environment.h"
#include "nic/interrupt_thread.h"
#include "nic/port.h"
#include "start/port_plan.h"
#include "worker/eal.h"

namespace uroce {
namespace {

using std::chrono::microseconds;

constexpr microseconds kSleepMin(20), kSleepMax(5000);

std::mutex in_turn;

class Tap {
 public:
  // `frames_max`: how many are captured.
  Tap(std::unique_ptr<nic::Port> a, std::unique_ptr<nic::Port> b, uint64_t frames_max)
      : a_(std::move(a)), b_(std::move(b)), frames_left_(frames_max) {}

  absl::Status open(const char* capture) { return checked(writer_.open(capture)); }
  absl::Status close() { return checked(writer_.close()); }

  // Until somebody asks to stop.
  void run() {
    auto last_find = std::chrono::steady_clock::now();
    while (!app::stop_asked()) {
      const bool found = turn();
      const auto now = std::chrono::steady_clock::now();
      if (found) {
        last_find = now;
        continue;
      }
      const auto idle = std::chrono::duration_cast<microseconds>(now - last_find);
      std::this_thread::sleep_for(std::clamp(idle / 8, kSleepMin, kSleepMax));
    }
  }

 private:
  // Whether a frame has moved.
  bool turn() {
    const std::lock_guard guard(in_turn);
    const bool there = pass(*a_, *b_);
    const bool back = pass(*b_, *a_);
    return there || back;
  }

  // One burst. Nothing is taken before there is room for all of it.
  bool pass(nic::Port& from, nic::Port& to) {
    nic::Queue& out = to.queue(0);
    const std::span<TxSlot> slots = out.lend();
    if (slots.size() < nic::kBurst) {
      to.info();  // the queue hears of the link by it, and drops what waits for none
      out.flush();
      return false;
    }
    std::array<RxFrame, nic::kBurst> burst;
    const uint32_t count = from.queue(0).receive({}, burst);
    for (uint32_t i = 0; i < count; ++i) {
      std::memcpy(slots[i].room, burst[i].bytes, burst[i].length);
      slots[i].length = burst[i].length;
      capture({burst[i].bytes, burst[i].length});
    }
    from.queue(0).release({burst.data(), count});
    if (count != 0) out.submit(count);
    return count != 0;
  }

  void capture(std::span<const uint8_t> frame) {
    if (frames_left_ == 0) return;
    --frames_left_;
    writer_.write(
        frame,
        std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  }

  absl::Status checked(bool done) const {
    return done ? absl::OkStatus() : absl::UnavailableError(writer_.error());
  }

  const std::unique_ptr<nic::Port> a_;
  const std::unique_ptr<nic::Port> b_;
  capture::CaptureWriter writer_;
  uint64_t frames_left_;
};

absl::Status run(const char* capture, uint64_t frames_max, const char* const* sockets) {
  const auto settings =
      ibverbs::read_settings("", absl::StrFormat("--port net_memif0,role=server,socket=%s "
                                                 "--port net_memif1,role=server,socket=%s",
                                                 sockets[0], sockets[1]));
  if (!settings.ok()) return settings.status();
  const auto eal = worker::Eal::start(ibverbs::eal_arguments(*settings, ibverbs::Machine::look()));
  if (!eal.ok()) return eal.status();
  const auto plan = start::plan_ports(*settings, {});
  if (!plan.ok()) return plan.status();
  std::array<std::unique_ptr<nic::Port>, 2> ports;
  for (size_t i = 0; i < ports.size(); ++i) {
    auto port = nic::Port::open((*plan)[i]);
    if (!port.ok()) return port.status();
    ports[i] = *std::move(port);
  }
  Tap tap(std::move(ports[0]), std::move(ports[1]), frames_max);
  if (absl::Status status = tap.open(capture); !status.ok()) return status;
  std::puts("ready");
  std::fflush(stdout);
  tap.run();
  return tap.close();
}

}  // namespace
}  // namespace uroce

// net_memif unmaps the rings of an end that goes on EAL's interrupt thread, whoever polls them. Its
// call comes here, before the C library's function of that name, and waits for the end of the turn.
extern "C" int munmap(void* address, size_t length) {
  std::unique_lock guard(uroce::in_turn, std::defer_lock);
  if (uroce::nic::is_interrupt_thread()) guard.lock();
  return static_cast<int>(syscall(SYS_munmap, address, length));
}

int main(int argc, char** argv) {
  const std::string_view count = argc == 5 ? argv[2] : "";
  uint64_t frames_max = 0;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), frames_max);
  if (count.empty() || error != std::errc{} || end != count.data() + count.size()) {
    std::fputs("uroce-memif-tap CAPTURE FRAMES SOCKET SOCKET\n", stderr);
    return 2;
  }
  uroce::app::catch_stop_signals();
  const absl::Status status = uroce::run(argv[1], frames_max, argv + 3);
  if (status.ok()) return 0;
  std::fprintf(stderr, "uroce-memif-tap: %s\n", std::string(status.message()).c_str());
  return 1;
}
