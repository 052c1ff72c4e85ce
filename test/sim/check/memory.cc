// SPDX-License-Identifier: BSD-3-Clause
// Keeping the model of memory, and holding memory against it.
#include "test/sim/check/memory.h"

#include <algorithm>
#include <cstring>

namespace uroce::sim {

Shadow::Shadow(std::span<const uint8_t> memory)
    : memory_(memory), certain_(memory.begin(), memory.end()) {}

void Shadow::set(uint32_t offset, std::span<const uint8_t> bytes) {
  std::copy(bytes.begin(), bytes.end(), certain_.begin() + offset);
  doubts_.erase(offset);
}

void Shadow::set_from_memory(uint32_t offset, uint32_t length) {
  set(offset, memory_.subspan(offset, length));
}

void Shadow::doubt(uint32_t offset, uint32_t length) {
  uint32_t& known = doubts_[offset];
  known = std::max(known, length);
}

uint64_t Shadow::announce(uint32_t offset, std::vector<uint8_t> bytes) {
  open_.push_back({offset, std::move(bytes)});
  return ++announced_;
}

void Shadow::confirm(uint64_t count) {
  while (!open_.empty() && announced_ - open_.size() < count) {
    const Announced& oldest = open_.front();
    std::copy(oldest.bytes.begin(), oldest.bytes.end(), certain_.begin() + oldest.offset);
    open_.pop_front();
  }
}

std::string Shadow::give_up(uint64_t count) {
  while (!open_.empty() && announced_ - open_.size() < count) {
    const uint32_t offset = open_.front().offset;
    const auto length = static_cast<uint32_t>(open_.front().bytes.size());
    std::string difference = compare(offset, length);
    if (!difference.empty()) return difference;
    set_from_memory(offset, length);
    open_.pop_front();
  }
  return "";
}

void Shadow::settle() {
  while (!open_.empty()) {
    const Announced& oldest = open_.front();
    set_from_memory(oldest.offset, static_cast<uint32_t>(oldest.bytes.size()));
    open_.pop_front();
  }
  for (const auto& [offset, length] : std::map(doubts_)) set_from_memory(offset, length);
}

bool Shadow::explained(uint32_t at) const {
  for (const Announced& write : open_) {
    if (at >= write.offset && at - write.offset < write.bytes.size() &&
        write.bytes[at - write.offset] == memory_[at]) {
      return true;
    }
  }
  const auto behind = doubts_.upper_bound(at);
  if (behind == doubts_.begin()) return false;
  const auto& [offset, length] = *std::prev(behind);
  return at - offset < length;
}

std::string Shadow::compare(uint32_t offset, uint32_t length) const {
  if (std::memcmp(&memory_[offset], &certain_[offset], length) == 0) return "";
  for (uint32_t at = offset; at < offset + length; ++at) {
    if (memory_[at] == certain_[at] || explained(at)) continue;
    return "byte " + std::to_string(at) + " is " + std::to_string(memory_[at]) + " and not " +
           std::to_string(certain_[at]);
  }
  return "";
}

std::string Shadow::compare() const { return compare(0, static_cast<uint32_t>(memory_.size())); }

}  // namespace uroce::sim
