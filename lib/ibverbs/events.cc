// SPDX-License-Identifier: BSD-3-Clause
// Completion channels and asynchronous events.
#include "ibverbs/events.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "ibverbs/runtime.h"
#include "ibverbs/xrc.h"

namespace uroce::ibverbs {
namespace {

// Of all open contexts.
struct AsyncQueues {
  std::mutex lock;
  std::vector<AsyncQueue*> all;
};

AsyncQueues& async_queues() {
  static AsyncQueues& queues = *new AsyncQueues;
  return queues;
}

void make_lock(pthread_mutex_t& mutex, pthread_cond_t& cond) {
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
}

void end_lock(pthread_mutex_t& mutex, pthread_cond_t& cond) {
  pthread_mutex_destroy(&mutex);
  pthread_cond_destroy(&cond);
}

// An object's count of events acknowledged, under its lock.
void acknowledge(pthread_mutex_t& mutex, pthread_cond_t& cond, uint32_t& completed,
                 uint32_t count) {
  if (has_lost_engines()) return;
  pthread_mutex_lock(&mutex);
  completed += count;
  pthread_cond_broadcast(&cond);
  pthread_mutex_unlock(&mutex);
}

// Returns when as many have been acknowledged as were taken.
void wait_for(pthread_mutex_t& mutex, pthread_cond_t& cond, const uint32_t& completed,
              const uint32_t& taken) {
  pthread_mutex_lock(&mutex);
  while (completed != taken) pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
}

bool is_of_cq(const ibv_async_event& event) { return event.event_type == IBV_EVENT_CQ_ERR; }
bool is_of_srq(const ibv_async_event& event) {
  return event.event_type == IBV_EVENT_SRQ_ERR || event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
}
bool is_of_qp(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return true;
    default:
      return false;
  }
}

void count_taken(const ibv_async_event& event) {
  if (is_of_cq(event)) ++of(event.element.cq).async_events_taken;
  if (is_of_srq(event)) ++of(event.element.srq).events_taken;
  if (is_of_qp(event)) ++of(event.element.qp).events_taken;
}

ibv_async_event event_of(transport::EventType type) {
  ibv_async_event event{};
  event.event_type = static_cast<ibv_event_type>(type);
  return event;
}

void deliver(Cq& cq, transport::EventType type) {
  if (type == transport::EventType::kCompletion) {
    if (cq.channel != nullptr) of(cq.channel).queue->push(&cq);
    return;
  }
  ibv_async_event event = event_of(type);
  event.element.cq = plain(cq);
  of(cq.context).async->push(event);
}

void deliver(Srq& srq, transport::EventType type) {
  ibv_async_event event = event_of(type);
  event.element.srq = &srq;
  of(srq.context).async->push(event);
}

void deliver_to_object(const transport::Event& event) {
  switch (event.type) {
    case transport::EventType::kCompletion:
    case transport::EventType::kCqErr:
      return deliver(*static_cast<Cq*>(event.object), event.type);
    case transport::EventType::kSrqErr:
    case transport::EventType::kSrqLimitReached:
      return deliver(*static_cast<Srq*>(event.object), event.type);
    default: {
      Qp& qp = *static_cast<Qp*>(event.object);
      return qp.domain != nullptr ? deliver_to_handles(qp, event.type) : deliver(qp, event.type);
    }
  }
}

// For results of -1 with errno.
int report(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

std::mutex& async_queues_lock() { return async_queues().lock; }

AsyncQueue::AsyncQueue(uint32_t device_index) : device_index_(device_index) {
  const std::lock_guard guard(async_queues().lock);
  async_queues().all.push_back(this);
}

AsyncQueue::~AsyncQueue() {
  const std::lock_guard guard(async_queues().lock);
  std::erase(async_queues().all, this);
}

void begin_life(Cq& cq) {
  make_lock(cq.mutex, cq.cond);
  if (cq.channel != nullptr) {
    pthread_mutex_lock(&cq.channel->context->mutex);
    ++cq.channel->refcnt;
    pthread_mutex_unlock(&cq.channel->context->mutex);
  }
  device::LiveObjects::instance().add(&cq);
}

void begin_life(Qp& qp) {
  make_lock(qp.qp_base.mutex, qp.qp_base.cond);
  device::LiveObjects::instance().add(&qp);
}

void begin_life(Srq& srq) {
  make_lock(srq.mutex, srq.cond);
  device::LiveObjects::instance().add(&srq);
}

void settle_events(Cq& cq) {
  of(cq.context).async->purge([&cq](const ibv_async_event& event) {
    return is_of_cq(event) && event.element.cq == plain(cq);
  });
  if (cq.channel != nullptr) {
    of(cq.channel).queue->purge([&cq](const Cq* waiting) { return waiting == &cq; });
  }
  wait_for(cq.mutex, cq.cond, cq.async_events_completed, cq.async_events_taken);
  wait_for(cq.mutex, cq.cond, cq.comp_events_completed, cq.comp_events_taken);
  if (cq.channel != nullptr) {
    pthread_mutex_lock(&cq.channel->context->mutex);
    --cq.channel->refcnt;
    pthread_mutex_unlock(&cq.channel->context->mutex);
  }
  end_lock(cq.mutex, cq.cond);
}

void settle_events(Qp& qp) {
  ibv_qp& base = qp.qp_base;
  of(base.context).async->purge([&base](const ibv_async_event& event) {
    return is_of_qp(event) && event.element.qp == &base;
  });
  wait_for(base.mutex, base.cond, base.events_completed, qp.events_taken);
  end_lock(base.mutex, base.cond);
}

void settle_events(Srq& srq) {
  of(srq.context).async->purge([&srq](const ibv_async_event& event) {
    return is_of_srq(event) && event.element.srq == &srq;
  });
  wait_for(srq.mutex, srq.cond, srq.events_completed, srq.events_taken);
  end_lock(srq.mutex, srq.cond);
}

void deliver(Qp& qp, transport::EventType type) {
  ibv_async_event event = event_of(type);
  event.element.qp = plain(qp);
  of(qp.qp_base.context).async->push(event);
}

void dispatch_event(const transport::Event& event) {
  device::dispatch_to_live(event, deliver_to_object);
}

void dispatch_port_event(uint32_t device_index, transport::EventType type) {
  ibv_async_event event = event_of(type);
  event.element.port_num = 1;
  const std::lock_guard guard(async_queues().lock);
  for (AsyncQueue* queue : async_queues().all) {
    if (queue->device_index() == device_index) queue->push(event);
  }
}

}  // namespace uroce::ibverbs

using namespace uroce::ibverbs;

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  std::unique_ptr<Channel> channel(new (std::nothrow) Channel{});
  std::unique_ptr<ChannelQueue> queue(new (std::nothrow) ChannelQueue);
  if (channel == nullptr || queue == nullptr) return refuse<ibv_comp_channel>(-ENOMEM);
  if (queue->fd() < 0) return nullptr;  // errno says why
  channel->context = context;
  channel->fd = queue->fd();
  channel->refcnt = 0;
  channel->queue = queue.release();
  return channel.release();
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (has_lost_engines()) return EIO;
  pthread_mutex_lock(&channel->context->mutex);
  const bool used = channel->refcnt != 0;
  pthread_mutex_unlock(&channel->context->mutex);
  if (used) return EBUSY;
  delete of(channel).queue;
  delete &of(channel);
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  if (has_lost_engines()) return report(EIO);  // the descriptor counts the parent's events
  Cq* taken = nullptr;
  const int error =
      of(channel).queue->take(taken, [](Cq* of_event) { ++of_event->comp_events_taken; });
  if (error != 0) return report(error);
  *cq = plain(*taken);
  *cq_context = taken->cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned int nevents) {
  if (nevents == 0) return;
  acknowledge(cq->mutex, cq->cond, cq->comp_events_completed, nevents);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  if (has_lost_engines()) return report(EIO);
  return report(of(context).async->take(*event, count_taken));
}

void ibv_ack_async_event(ibv_async_event* event) {
  if (is_of_cq(*event)) {
    ibv_cq& cq = *event->element.cq;
    acknowledge(cq.mutex, cq.cond, cq.async_events_completed, 1);
  } else if (is_of_srq(*event)) {
    ibv_srq& srq = *event->element.srq;
    acknowledge(srq.mutex, srq.cond, srq.events_completed, 1);
  } else if (is_of_qp(*event)) {
    ibv_qp& qp = *event->element.qp;
    acknowledge(qp.mutex, qp.cond, qp.events_completed, 1);
  }
}
