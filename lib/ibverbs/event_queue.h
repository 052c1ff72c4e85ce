// SPDX-License-Identifier: BSD-3-Clause
// Events that wait for the application behind a file descriptor, which it may poll.
//
// The descriptor counts: it is readable while an event waits. Whoever takes an event reads the
// descriptor first, so the application's own choice, O_NONBLOCK or not, decides whether taking
// waits. An event that is purged gives its count back; if a thread that takes has read that count
// already and is on its way to the queue, one count read is void instead, and that thread (or
// another one: they are alike) reads again.
#ifndef UROCE_IBVERBS_EVENT_QUEUE_H
#define UROCE_IBVERBS_EVENT_QUEUE_H

#include <cstddef>
#include <deque>
#include <mutex>

namespace uroce::ibverbs {

// The descriptor. Any thread.
class EventCounter {
 public:
  EventCounter();
  ~EventCounter();
  EventCounter(const EventCounter&) = delete;
  EventCounter& operator=(const EventCounter&) = delete;

  int fd() const { return fd_; }  // -1: there was none left
  void add();
  // Takes one; waits for it unless the application has set O_NONBLOCK. 0, or a positive errno:
  // EAGAIN, EINTR.
  int take();
  // Takes up to `count`, never waits; how many.
  size_t take_back(size_t count);

 private:
  const int fd_;
};

// First in, first out. Any thread.
template <typename Record>
class EventQueue {
 public:
  int fd() const { return counter_.fd(); }

  void push(const Record& record) {
    const std::lock_guard guard(lock_);
    records_.push_back(record);
    counter_.add();
  }

  // As EventCounter::take(). `taken` is called with the record before anybody else can look at the
  // queue: after a purge, what was taken before is known.
  template <typename Taken>
  int take(Record& record, Taken&& taken) {
    for (;;) {
      if (const int error = counter_.take(); error != 0) return error;
      const std::lock_guard guard(lock_);
      if (void_counts_ > 0) {
        --void_counts_;
        continue;
      }
      record = records_.front();
      records_.pop_front();
      taken(record);
      return 0;
    }
  }

  // Forgets the records for which matches(record) holds.
  template <typename Matches>
  void purge(Matches&& matches) {
    const std::lock_guard guard(lock_);
    const size_t purged = std::erase_if(records_, matches);
    void_counts_ += purged - counter_.take_back(purged);
  }

 private:
  EventCounter counter_;
  std::mutex lock_;  // below; and the counter grows and is taken back from under it only
  std::deque<Record> records_;
  // Counts, in the descriptor or in the hands of takers, less records.
  size_t void_counts_ = 0;
};

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_EVENT_QUEUE_H
