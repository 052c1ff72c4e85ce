// SPDX-License-Identifier: BSD-3-Clause
// The simulated world: one clock, one seed, a wire that misbehaves as it is told, and hosts that
// are real engines. Nothing waits for real time and nothing depends on anything but the seed.
#ifndef UROCE_TEST_SIM_WORLD_H
#define UROCE_TEST_SIM_WORLD_H

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "capture/writer.h"
#include "test/sim/switch.h"

namespace uroce::sim {

class Host;
class WireRules;

// Probabilities are of each frame, independently; that of a stall is of each turn of a host's loop.
struct Faults {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  // late by up to reorder_delay
  double corrupt = 0;  // one bit of a RoCE frame flipped, anywhere
  double stall = 0;    // the host loses its core for up to stall_span
  Duration latency{5'000};
  Duration latency_period{};  // so long as said, then so long ten times as much; 0: constant
  Duration reorder_delay{50'000};
  Duration stall_span{3'000'000};
  uint64_t stalls_max = 3;           // in all
  size_t port_frames = 64;           // a port holds so many for a host that does not poll
  size_t frame_bytes_max = 1 << 16;  // a longer frame vanishes on the way
};

struct WireCounters {
  uint64_t sent = 0;
  uint64_t copies = 0;     // one for each host that a frame is for, and for each duplicate
  uint64_t delivered = 0;  // copies that a port has taken
  uint64_t lost = 0;
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t corrupted = 0;
  uint64_t stalls = 0;
  uint64_t port_drops = 0;  // found the port of a stalled host full
  uint64_t cut = 0;         // to the other side of a partition, or to a host without power
  uint64_t tail_drops = 0;  // found a queue of the switch full
  uint64_t pauses = 0;
  uint64_t oversize = 0;  // longer than the wire takes
};

class World {
 public:
  explicit World(uint64_t seed);
  ~World();

  Time now() const { return now_; }
  Random& random() { return random_; }
  Faults faults;
  Switch fabric;
  const WireCounters& counters() const { return counters_; }

  // Every frame on the wire, and every line of log(), goes there as well. Before the first step.
  void capture_to(const std::string& path);
  void log_to(std::string* text) { log_ = text; }
  // Is shown every frame; nullptr: nobody.
  WireRules* rules = nullptr;
  // Is shown every frame that a host makes, wherever it goes; empty: nobody.
  std::function<void(const Host&, std::span<const uint8_t>)> tap;
  void log(const std::string& line);

  Host& add_host(std::unique_ptr<Host> host);
  Host& host(size_t index) { return *hosts_[index]; }

  // A host puts a frame on the wire; everybody else gets it, unless the wire thinks otherwise.
  void send(const Host& from, std::span<const uint8_t> frame);
  // A test puts a frame on the wire in front of `to`, untouched by faults.
  void inject(Host& to, std::span<const uint8_t> frame);

  // Takes `host` its core for `span` from now on.
  void stall(Host& host, Duration span);
  // Forbids `host` to send for `span` from now on, as a switch does by PFC.
  void pause(Host& host, Duration span);
  // Nothing passes between two hosts for `span` from now on. It may be the same host twice.
  void cut(size_t a, size_t b, Duration span);
  Time cut_until(size_t a, size_t b) const { return cuts_[a][b]; }
  // Power off, and on again with a new life: the caller has destroyed what was built on the host.
  void unplug(size_t index) { plugged_[index] = false; }
  Host& replace_host(size_t index, std::unique_ptr<Host> host);

  // How often something has gone wrong between two hosts so far, in either direction: what may be a
  // reason for a retry. Stalls and pauses count once, and once more for each millisecond.
  uint64_t faults_between(size_t a, size_t b) const { return blame_[a][b]; }
  size_t index_of(const Host& host) const;
  size_t host_count() const { return hosts_.size(); }
  // Copies on their way.
  size_t in_flight() const { return arrivals_.size(); }
  Time next_event() const;

  // The frame that was sent last.
  const std::vector<uint8_t>& last_frame() const { return last_frame_; }

  // Goes to the next thing that happens and lets it happen. False: nothing will ever happen.
  bool step();
  // What a control call does while it waits: every host's loop turns once, then step(); when
  // nothing would ever happen the clock moves all the same, so that a wait with a limit ends.
  void turn();
  // Steps until nothing is left to happen before `end`, then sets the clock to it.
  void run_until(Time end);

 private:
  struct Arrival {
    Time time;
    uint64_t order;  // ties are broken by it: the same on every run
    size_t from;
    size_t host;
    std::vector<uint8_t> frame;
    bool operator>(const Arrival& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  static constexpr size_t kHostsMax = 8;
  template <typename T>
  using ByPair = std::array<std::array<T, kHostsMax>, kHostsMax>;

  bool happens(double probability);
  void turn_host(Host& host);
  void offer(size_t from, size_t to, std::span<const uint8_t> frame);
  Duration latency() const;
  void deliver_later(size_t from, size_t to, std::vector<uint8_t> frame);
  void arrive(const Arrival& arrival);
  void blame(size_t a, size_t b, uint64_t times = 1);
  void blame_all(const Host& host, Duration span);
  void advance(Time to);

  Time now_{};
  Random random_;
  WireCounters counters_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  uint64_t next_order_ = 0;
  std::vector<uint8_t> last_frame_;
  capture::CaptureWriter capture_;
  bool capturing_ = false;
  std::string* log_ = nullptr;
  ByPair<Time> cuts_{};
  ByPair<Time> newest_arrival_{};  // of the frames that the wire keeps in order
  ByPair<uint64_t> blame_{};
  std::array<bool, kHostsMax> plugged_{};
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_WORLD_H
