// SPDX-License-Identifier: BSD-3-Clause
// Finding a registered range: the one that begins last before an address is looked at first, and
// none further back than the longest of them reaches.
#include "verbs/registered_memory.h"

#include <algorithm>
#include <utility>

namespace uroce::verbs {
namespace {

// Whether [start, start + length) is in `range`.
bool contains(const page& range, uint64_t start, uint64_t length) {
  const uint64_t first = reinterpret_cast<uint64_t>(range.address);
  return start >= first && start - first <= range.length &&
         length <= range.length - (start - first);
}

}  // namespace

RegisteredMemory& RegisteredMemory::instance() {
  static RegisteredMemory& memory = *new RegisteredMemory;
  return memory;
}

RegisteredMemory::Hold& RegisteredMemory::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  end();
  memory_ = std::exchange(other.memory_, nullptr);
  at_ = other.at_;
  return *this;
}

void RegisteredMemory::Hold::end() {
  if (memory_ == nullptr) return;
  const std::lock_guard guard(memory_->lock_);
  memory_->ranges_.erase(at_);
  memory_ = nullptr;
}

RegisteredMemory::Hold RegisteredMemory::hold(const ib_device* device, uint64_t start,
                                              uint64_t length) {
  Range range;
  range.address = reinterpret_cast<void*>(start);
  range.length = length;
  range.device = device;
  const std::lock_guard guard(lock_);
  longest_ = std::max(longest_, length);
  return {*this, ranges_.emplace(start, range)};
}

page* RegisteredMemory::find_registered(const ib_device* device, uint64_t start, uint64_t length) {
  for (auto at = ranges_.upper_bound(start); at != ranges_.begin();) {
    --at;
    Range& range = at->second;
    if (start - at->first > longest_) return nullptr;
    const bool ours = device == nullptr || range.device == device;
    if (ours && contains(range, start, length)) return &range;
  }
  return nullptr;
}

page* RegisteredMemory::find_elsewhere(uint64_t start, uint64_t length) {
  uint64_t first = 0;
  uint64_t bytes = 0;
  if (lookup_ == nullptr || !lookup_(start, first, bytes)) return nullptr;
  page& piece = pieces_[first];
  piece = {.address = reinterpret_cast<void*>(first), .length = bytes};
  return contains(piece, start, length) ? &piece : nullptr;
}

page* RegisteredMemory::find(const ib_device* device, uint64_t start, uint64_t length) {
  const std::lock_guard guard(lock_);
  page* const registered = find_registered(device, start, length);
  return registered != nullptr ? registered : find_elsewhere(start, length);
}

void RegisteredMemory::set_lookup(Lookup lookup) {
  const std::lock_guard guard(lock_);
  lookup_ = lookup;
  pieces_.clear();
}

}  // namespace uroce::verbs
