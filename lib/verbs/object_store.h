// SPDX-License-Identifier: BSD-3-Clause
// The handles that an application holds of one device: freed when it destroys them, and the rest
// when the device is closed.
#ifndef UROCE_VERBS_OBJECT_STORE_H
#define UROCE_VERBS_OBJECT_STORE_H

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace uroce::verbs {

// Any thread.
class ObjectStore {
 public:
  // Takes over an object made by new.
  template <typename T>
  void keep(T* object) {
    std::shared_ptr<void> owner(object);
    const std::lock_guard guard(lock_);
    objects_.emplace(object, std::move(owner));
  }
  // Frees it when the result goes. The object is here.
  std::shared_ptr<void> give_up(const void* object) {
    const std::lock_guard guard(lock_);
    return std::move(objects_.extract(object).mapped());
  }
  // Gives up all that are left.
  std::vector<std::shared_ptr<void>> give_up_all() {
    const std::lock_guard guard(lock_);
    std::vector<std::shared_ptr<void>> left;
    left.reserve(objects_.size());
    for (auto& entry : objects_) left.push_back(std::move(entry.second));
    objects_.clear();
    return left;
  }

 private:
  std::mutex lock_;
  std::unordered_map<const void*, std::shared_ptr<void>> objects_;
};

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_OBJECT_STORE_H
