// SPDX-License-Identifier: BSD-3-Clause
// The clock, the order of things, and the faults of the wire.
#include "test/sim/world.h"

#include <algorithm>
#include <stdexcept>

#include "test/sim/host.h"
#include "wire/parse.h"

namespace uroce::sim {
namespace {

// What an ICRC protects from end to end. A bit that flips on a link is the Ethernet FCS's to find;
// one that flips inside a switch can make an ARP reply lie, and nobody could tell.
bool carries_icrc(std::span<const uint8_t> frame) {
  wire::L3Info info;
  return wire::classify(frame, {}, info) == wire::FrameKind::kRoce;
}

}  // namespace

World::World(uint64_t seed) : random_(seed) {}
World::~World() = default;

void World::capture_to(const std::string& path) {
  if (!capture_.open(path.c_str())) throw std::runtime_error(capture_.error());
  capturing_ = true;
}

void World::log(const std::string& line) {
  if (log_ == nullptr) return;
  *log_ += std::to_string(now_.time_since_epoch().count()) + " " + line + "\n";
}

Host& World::add_host(std::unique_ptr<Host> host) {
  if (hosts_.size() == kHostsMax) throw std::runtime_error("too many hosts");
  plugged_[hosts_.size()] = true;
  hosts_.push_back(std::move(host));
  return *hosts_.back();
}

Host& World::replace_host(size_t index, std::unique_ptr<Host> host) {
  log(hosts_[index]->name() + " begins a new life");
  hosts_[index] = std::move(host);
  plugged_[index] = true;
  return *hosts_[index];
}

size_t World::index_of(const Host& host) const {
  size_t index = 0;
  while (hosts_[index].get() != &host) ++index;
  return index;
}

void World::blame(size_t a, size_t b, uint64_t times) {
  blame_[a][b] += times;
  if (a != b) blame_[b][a] += times;
}

void World::blame_all(const Host& host, Duration span) {
  const size_t index = index_of(host);
  for (size_t i = 0; i < hosts_.size(); ++i) {
    blame(index, i, 1 + static_cast<uint64_t>(span.count()) / 1'000'000);
  }
}

bool World::happens(double probability) {
  // Drawn even when it cannot happen: the sequence of draws does not depend on the settings.
  return static_cast<double>(random_.next64() >> 11) * 0x1p-53 < probability;
}

Duration World::latency() const {
  if (faults.latency_period == Duration{}) return faults.latency;
  const bool slow = now_.time_since_epoch() / faults.latency_period % 2 != 0;
  return slow ? 10 * faults.latency : faults.latency;
}

void World::deliver_later(size_t from, size_t to, std::vector<uint8_t> frame) {
  Time time = now_ + latency();
  if (fabric.exists()) {
    const std::optional<Time> left = fabric.enqueue(now_, to, frame.size());
    if (!left) {
      ++counters_.tail_drops;
      blame(from, to);
      return;
    }
    time = *left + latency();
  }
  // A way that has become shorter lets nothing overtake.
  Time& newest = newest_arrival_[from][to];
  time = newest = std::max(newest, time);
  if (happens(faults.reorder)) {
    time += random_.delay_within(faults.reorder_delay);
    ++counters_.reordered;
    blame(from, to);
  }
  if (happens(faults.corrupt) && carries_icrc(frame)) {
    const uint64_t bit = random_.below(frame.size() * 8);
    frame[bit / 8] = static_cast<uint8_t>(frame[bit / 8] ^ (1u << (bit % 8)));
    ++counters_.corrupted;
    blame(from, to);
  }
  arrivals_.push({time, next_order_++, from, to, std::move(frame)});
}

void World::offer(size_t from, size_t to, std::span<const uint8_t> frame) {
  ++counters_.copies;
  if (!plugged_[to] || cuts_[from][to] > now_) {
    ++counters_.cut;
    blame(from, to);
    return;
  }
  if (frame.size() > faults.frame_bytes_max) {
    ++counters_.oversize;
    blame(from, to);
    return;
  }
  if (happens(faults.loss)) {
    ++counters_.lost;
    blame(from, to);
    return;
  }
  if (happens(faults.duplicate)) {
    ++counters_.duplicated;
    ++counters_.copies;
    deliver_later(from, to, {frame.begin(), frame.end()});
  }
  deliver_later(from, to, {frame.begin(), frame.end()});
  if (fabric.exists() && fabric.pauses(now_, to)) {
    pause(*hosts_[from], fabric.config().pause_span);
  }
}

void World::send(const Host& from, std::span<const uint8_t> frame) {
  const size_t source = index_of(from);
  if (!plugged_[source]) return;
  ++counters_.sent;
  last_frame_.assign(frame.begin(), frame.end());
  if (capturing_) capture_.write(frame, now_.time_since_epoch().count());
  log(from.name() + " sends " + std::to_string(frame.size()));
  MacAddress to;
  std::copy_n(frame.begin(), to.bytes.size(), to.bytes.begin());
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (i != source && (to.is_multicast() || to == hosts_[i]->mac())) offer(source, i, frame);
  }
}

void World::inject(Host& to, std::span<const uint8_t> frame) {
  const size_t host = index_of(to);
  ++counters_.copies;
  arrivals_.push({now_, next_order_++, host, host, {frame.begin(), frame.end()}});
}

void World::advance(Time to) {
  if (to > now_) now_ = to;
}

Time World::next_event() const {
  Time next = arrivals_.empty() ? kNever : arrivals_.top().time;
  for (const auto& host : hosts_) next = std::min(next, host->next_timeout());
  return next;
}

void World::arrive(const Arrival& arrival) {
  Host& host = *hosts_[arrival.host];
  if (!plugged_[arrival.host]) {
    ++counters_.cut;
  } else if (host.receive(arrival.frame)) {
    ++counters_.delivered;
    turn_host(host);
  } else {
    ++counters_.port_drops;
    blame(arrival.from, arrival.host);
  }
}

bool World::step() {
  Time next = arrivals_.empty() ? kNever : arrivals_.top().time;
  Host* timer_host = nullptr;
  for (auto& host : hosts_) {
    if (host->next_timeout() < next) {
      next = host->next_timeout();
      timer_host = host.get();
    }
  }
  if (next == kNever) return false;
  advance(next);
  if (timer_host != nullptr) {
    turn_host(*timer_host);
    return true;
  }
  const Arrival arrival = arrivals_.top();
  arrivals_.pop();
  arrive(arrival);
  return true;
}

void World::turn_host(Host& host) {
  host.pump();
  const bool stalls = happens(faults.stall);
  if (!stalls || host.stalled() || counters_.stalls >= faults.stalls_max) return;
  stall(host, random_.delay_within(faults.stall_span));
}

void World::stall(Host& host, Duration span) {
  ++counters_.stalls;
  blame_all(host, span);
  host.stall_until(now_ + span);
}

void World::pause(Host& host, Duration span) {
  ++counters_.pauses;
  blame_all(host, span);
  host.pause_until(now_ + span);
}

void World::cut(size_t a, size_t b, Duration span) {
  log("nothing passes between " + hosts_[a]->name() + " and " + hosts_[b]->name() + " for " +
      std::to_string(span.count()));
  cuts_[a][b] = cuts_[b][a] = std::max(cuts_[a][b], now_ + span);
}

void World::turn() {
  for (auto& host : hosts_) host->pump();
  if (!step()) advance(now_ + Duration(1'000'000));
}

void World::run_until(Time end) {
  while (next_event() <= end) step();
  advance(end);
}

}  // namespace uroce::sim
