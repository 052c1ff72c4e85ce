// SPDX-License-Identifier: BSD-3-Clause
// The target queue pairs of an XRC domain, and who has them open.
//
// A target is a queue pair that nobody holds. What applications hold are handles of it, and closing
// the last one ends it.
#ifndef UROCE_DEVICE_XRC_TARGETS_H
#define UROCE_DEVICE_XRC_TARGETS_H

#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "device/live_objects.h"

namespace uroce::device {

// `Qp`: a face's queue pair, targets and handles alike. Any thread. The lock is never held while
// events are delivered, whose handlers may be about to ask for it.
template <typename Qp>
class XrcTargets {
 public:
  // A target and its first handle; or its last one, when ending it has failed.
  void add(uint32_t number, Qp& real, Qp& handle) {
    const std::lock_guard guard(lock_);
    targets_[number] = {&real, {&handle}, false};
  }

  // attach(real) gives one more handle, complete: it may be told of events at once. -EINVAL: no
  // target has this number, or it is being ended.
  template <typename Attach>
  int open(uint32_t number, Attach&& attach) {
    const std::lock_guard guard(lock_);
    const auto found = targets_.find(number);
    if (found == targets_.end() || found->second.ending) return -EINVAL;
    found->second.handles.push_back(&attach(*found->second.real));
    return 0;
  }

  // 0: the handle is taken off; or, with `ends` the target, nobody else has that open, and the
  // caller is to end it: ended() or add() follows. -EBUSY: that is under way.
  int close(uint32_t number, Qp& handle, Qp*& ends) {
    const std::lock_guard guard(lock_);
    Target& target = targets_[number];
    if (target.ending) return -EBUSY;
    target.ending = target.handles.size() == 1;
    ends = target.ending ? target.real : nullptr;
    if (!target.ending) std::erase(target.handles, &handle);
    return 0;
  }
  // Before the number is free: another target may have it soon.
  void ended(uint32_t number) {
    const std::lock_guard guard(lock_);
    targets_.erase(number);
  }

  // deliver(handle) for all who have it open.
  template <typename Deliver>
  void tell(uint32_t number, Deliver&& deliver) {
    LiveObjects& live = LiveObjects::instance();
    for (Qp* const handle : handles(number)) {
      if (!live.enter(handle)) continue;
      deliver(*handle);
      live.leave(handle);
    }
  }

 private:
  struct Target {
    Qp* real = nullptr;
    std::vector<Qp*> handles;  // never empty
    bool ending = false;       // the last handle is being closed
  };
  std::vector<Qp*> handles(uint32_t number) {
    const std::lock_guard guard(lock_);
    const auto found = targets_.find(number);
    return found != targets_.end() ? found->second.handles : std::vector<Qp*>{};
  }

  std::mutex lock_;
  std::map<uint32_t, Target> targets_;  // by QPN
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_XRC_TARGETS_H
