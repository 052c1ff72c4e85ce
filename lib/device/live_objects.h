// SPDX-License-Identifier: BSD-3-Clause
// Which objects may still be given events, and who is inside one of their handlers.
//
// An event names its object by address, and may wait in a ring when the object is destroyed. So
// delivery asks here first; destruction takes the object off this list and waits for handlers that
// are inside, except on the thread that runs one (a handler may destroy its own object). Memory of
// a destroyed object is kept a while, so that its address does not come back as another object's
// while an old event may still be about.
#ifndef UROCE_DEVICE_LIVE_OBJECTS_H
#define UROCE_DEVICE_LIVE_OBJECTS_H

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace uroce::device {

// One for the process. Any thread; the lock is never held while a handler runs.
class LiveObjects {
 public:
  static constexpr size_t kResting = 256;  // destroyed objects whose memory is kept

  static LiveObjects& instance();

  void add(const void* object);
  // Returns when no other thread is inside a handler of it and none will be any more.
  void remove(const void* object);

  // Before and after calling a handler. enter() is false when the object has gone.
  bool enter(const void* object);
  void leave(const void* object);

  // Takes a removed object's memory and frees that of the one removed kResting objects ago.
  void rest(std::shared_ptr<void> memory);

 private:
  struct Entry {
    bool open = true;
    bool waited_for = false;  // remove() is waiting and will erase it
    std::vector<std::thread::id> inside;
  };
  static bool others_inside(const Entry& entry);

  std::mutex lock_;
  std::condition_variable left_;
  std::unordered_map<const void*, Entry> entries_;
  std::deque<std::shared_ptr<void>> resting_;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_LIVE_OBJECTS_H
