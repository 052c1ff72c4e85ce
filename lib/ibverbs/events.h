// SPDX-License-Identifier: BSD-3-Clause
// Events on their way to the application: the queues behind completion channels and contexts, and
// the objects that events name, from their beginning to their end.
//
// An event is given out by ibv_get_cq_event() or ibv_get_async_event(), and its object is not freed
// before it is acknowledged. Who ends an object purges its events, then waits for those given out.
#ifndef UROCE_IBVERBS_EVENTS_H
#define UROCE_IBVERBS_EVENTS_H

#include <cstdint>
#include <memory>
#include <mutex>

#include "device/event_delivery.h"
#include "ibverbs/event_queue.h"
#include "ibverbs/handles.h"
#include "transport/event.h"

namespace uroce::ibverbs {

// Completion events of the CQs of one channel.
class ChannelQueue : public EventQueue<Cq*> {};

// Asynchronous events of one open context: of its objects and, from the first moment to the last,
// of its device's port. Check fd() once made.
class AsyncQueue : public EventQueue<ibv_async_event> {
 public:
  explicit AsyncQueue(uint32_t device_index);
  ~AsyncQueue();
  AsyncQueue(const AsyncQueue&) = delete;
  AsyncQueue& operator=(const AsyncQueue&) = delete;

  uint32_t device_index() const { return device_index_; }

 private:
  const uint32_t device_index_;
};

// Held while the queues of all open contexts are looked through, or one comes or goes.
std::mutex& async_queues_lock();

// The lives of objects that events name. What the device calls `user` is the address of the Cq, Qp
// or Srq. begin_life() comes before the device is asked to make the object, whose context and (CQ)
// channel are set: its lock is made, events reach it, and the channel is in use.
void begin_life(Cq& cq);
void begin_life(Qp& qp);
void begin_life(Srq& srq);

// Afterwards nothing of the object is in the queues of its context and channel, or given out and
// not acknowledged: waits for the application. The channel may go.
void settle_events(Cq& cq);
void settle_events(Qp& qp);
void settle_events(Srq& srq);

// Ends and frees an object made by new. `destroy` is the device's call, given what it is to do when
// nothing refuses any more (device::Quiesce). Returns what it returns; not 0: the object stays.
template <typename Object, typename Destroy>
int end_life(Object& object, Destroy&& destroy) {
  const int error = device::end_live(&object, destroy);
  if (error != 0) return error;
  settle_events(object);
  device::LiveObjects::instance().rest(std::shared_ptr<Object>(&object));
  return 0;
}
// The device has refused to make it, or it is a second handle that the device knows nothing of.
template <typename Object>
void end_life(Object& object) {
  end_life(object, [](const device::Quiesce& quiesce) {
    quiesce();
    return 0;
  });
}

// Puts an asynchronous event of a queue pair into its context's queue.
void deliver(Qp& qp, transport::EventType type);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_EVENTS_H
