// SPDX-License-Identifier: BSD-3-Clause
// The clock, the order of things, and the faults of the wire.
#include "test/sim/world.h"

#include <algorithm>
#include <stdexcept>

#include "test/sim/host.h"

namespace uroce::sim {

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
  hosts_.push_back(std::move(host));
  return *hosts_.back();
}

bool World::happens(double probability) {
  // Drawn even when it cannot happen: the sequence of draws does not depend on the settings.
  return static_cast<double>(random_.next64() >> 11) * 0x1p-53 < probability;
}

void World::deliver_later(size_t host, std::vector<uint8_t> frame) {
  Duration delay = faults.latency;
  if (happens(faults.reorder)) {
    delay += random_.delay_within(faults.reorder_delay);
    ++counters_.reordered;
  }
  if (happens(faults.corrupt)) {
    const uint64_t bit = random_.below(frame.size() * 8);
    frame[bit / 8] = static_cast<uint8_t>(frame[bit / 8] ^ (1u << (bit % 8)));
    ++counters_.corrupted;
  }
  arrivals_.push({now_ + delay, next_order_++, host, std::move(frame)});
}

void World::send(const Host& from, std::span<const uint8_t> frame) {
  ++counters_.sent;
  last_frame_.assign(frame.begin(), frame.end());
  if (capturing_) capture_.write(frame, now_.time_since_epoch().count());
  log(from.name() + " sends " + std::to_string(frame.size()));
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].get() == &from) continue;
    if (happens(faults.loss)) {
      ++counters_.lost;
      continue;
    }
    if (happens(faults.duplicate)) {
      ++counters_.duplicated;
      deliver_later(i, {frame.begin(), frame.end()});
    }
    deliver_later(i, {frame.begin(), frame.end()});
  }
}

void World::inject(Host& to, std::span<const uint8_t> frame) {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].get() == &to) {
      arrivals_.push({now_, next_order_++, i, {frame.begin(), frame.end()}});
    }
  }
}

void World::advance(Time to) {
  if (to > now_) now_ = to;
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
  hosts_[arrival.host]->receive(arrival.frame);
  turn_host(*hosts_[arrival.host]);
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
  host.stall_until(now_ + span);
}

void World::turn() {
  for (auto& host : hosts_) host->pump();
  if (!step()) advance(now_ + Duration(1'000'000));
}

void World::run_until(Time end) {
  for (;;) {
    Time next = arrivals_.empty() ? kNever : arrivals_.top().time;
    for (auto& host : hosts_) next = std::min(next, host->next_timeout());
    if (next > end) break;
    step();
  }
  advance(end);
}

}  // namespace uroce::sim
