// SPDX-License-Identifier: BSD-3-Clause
// Which objects may still be given events, and who is inside one of their handlers.
#include "device/live_objects.h"

#include <algorithm>
#include <utility>

namespace uroce::device {

LiveObjects& LiveObjects::instance() {
  static LiveObjects& objects = *new LiveObjects;
  return objects;
}

void LiveObjects::add(const void* object) {
  const std::lock_guard guard(lock_);
  entries_[object].open = true;  // a refused destroy puts it back while a handler is inside
}

bool LiveObjects::others_inside(const Entry& entry) {
  return std::any_of(entry.inside.begin(), entry.inside.end(),
                     [](std::thread::id thread) { return thread != std::this_thread::get_id(); });
}

void LiveObjects::remove(const void* object) {
  std::unique_lock lock(lock_);
  const auto found = entries_.find(object);
  if (found == entries_.end()) return;
  Entry& entry = found->second;  // stays where it is: an unordered_map does not move its elements
  entry.open = false;
  entry.waited_for = true;
  left_.wait(lock, [&] { return !others_inside(entry); });
  entry.waited_for = false;
  // When this thread itself is inside, leave() erases it.
  if (entry.inside.empty()) entries_.erase(object);
}

bool LiveObjects::enter(const void* object) {
  const std::lock_guard guard(lock_);
  const auto found = entries_.find(object);
  if (found == entries_.end() || !found->second.open) return false;
  found->second.inside.push_back(std::this_thread::get_id());
  return true;
}

void LiveObjects::leave(const void* object) {
  const std::lock_guard guard(lock_);
  const auto found = entries_.find(object);
  if (found == entries_.end()) return;
  std::vector<std::thread::id>& inside = found->second.inside;
  inside.erase(std::find(inside.begin(), inside.end(), std::this_thread::get_id()));
  left_.notify_all();
  if (inside.empty() && !found->second.open && !found->second.waited_for) entries_.erase(found);
}

void LiveObjects::rest(std::shared_ptr<void> memory) {
  std::shared_ptr<void> freed;  // behind the lock
  const std::lock_guard guard(lock_);
  resting_.push_back(std::move(memory));
  if (resting_.size() > kResting) {
    freed = std::move(resting_.front());
    resting_.pop_front();
  }
}

}  // namespace uroce::device
