// SPDX-License-Identifier: BSD-3-Clause
// Tests of completion channels and asynchronous events, with objects that no device knows.
#include "ibverbs/events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "ibverbs/runtime.h"

namespace uroce::ibverbs {
namespace {

using transport::EventType;

bool readable(int fd) {
  pollfd poll_fd{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&poll_fd, 1, 0) == 1;
}

// A context whose events never wait for anybody.
class OpenContext {
 public:
  explicit OpenContext(uint32_t device_index = 0) : async_(device_index) {
    pthread_mutex_init(&context_.verbs.context.mutex, nullptr);
    context_.async = &async_;
    EXPECT_EQ(fcntl(async_.fd(), F_SETFL, O_NONBLOCK), 0);
  }
  ibv_context* get() { return &context_.verbs.context; }
  int fd() const { return async_.fd(); }
  // The type of the next event, acknowledged; -1: none waits.
  int next() {
    ibv_async_event event{};
    if (ibv_get_async_event(get(), &event) != 0) return -errno == -EAGAIN ? -1 : -errno;
    ibv_ack_async_event(&event);
    return event.event_type;
  }

 private:
  AsyncQueue async_;
  Context context_{};
};

class EventsTest : public testing::Test {
 protected:
  EventsTest() {
    EXPECT_NE(channel_, nullptr);
    EXPECT_EQ(fcntl(channel_->fd, F_SETFL, O_NONBLOCK), 0);
  }
  ~EventsTest() override { EXPECT_EQ(ibv_destroy_comp_channel(channel_), 0); }

  Cq& make_cq(bool with_channel = true) {
    auto* cq = new Cq{};
    cq->context = context_.get();
    cq->channel = with_channel ? channel_ : nullptr;
    cq->cq_context = cq;
    begin_life(*cq);
    return *cq;
  }
  Qp& make_qp() {
    auto* qp = new Qp{};
    qp->qp_base.context = context_.get();
    begin_life(*qp);
    return *qp;
  }
  // 0 and the CQ, or an errno.
  int get(ibv_cq*& cq) {
    void* user = nullptr;
    if (ibv_get_cq_event(channel_, &cq, &user) != 0) return errno;
    EXPECT_EQ(user, &of(cq));
    return 0;
  }

  OpenContext context_;
  ibv_comp_channel* channel_ = ibv_create_comp_channel(context_.get());
};

TEST_F(EventsTest, ACompletionEventMakesTheChannelReadableAndNamesTheCq) {
  Cq& cq = make_cq();
  Cq& other = make_cq();
  ibv_cq* got = nullptr;
  EXPECT_EQ(get(got), EAGAIN);
  dispatch_event({EventType::kCompletion, &cq});
  dispatch_event({EventType::kCompletion, &other});
  EXPECT_TRUE(readable(channel_->fd));
  ASSERT_EQ(get(got), 0);
  EXPECT_EQ(got, plain(cq));
  ASSERT_EQ(get(got), 0);
  EXPECT_EQ(got, plain(other));
  EXPECT_FALSE(readable(channel_->fd));
  ibv_ack_cq_events(plain(cq), 1);
  ibv_ack_cq_events(plain(other), 1);
  end_life(cq);
  end_life(other);
}

TEST_F(EventsTest, ACqWithoutChannelHasNoCompletionEvents) {
  Cq& cq = make_cq(false);
  dispatch_event({EventType::kCompletion, &cq});
  EXPECT_FALSE(readable(channel_->fd));
  end_life(cq);
}

TEST_F(EventsTest, AChannelIsBusyWhileACqUsesIt) {
  Cq& cq = make_cq();
  EXPECT_EQ(ibv_destroy_comp_channel(channel_), EBUSY);
  end_life(cq);
}

TEST_F(EventsTest, EventsOfACqThatHasGoneAreDropped) {
  Cq& cq = make_cq();
  dispatch_event({EventType::kCompletion, &cq});
  dispatch_event({EventType::kCqErr, &cq});
  end_life(cq);
  dispatch_event({EventType::kCompletion, &cq});  // it was still in a ring
  dispatch_event({EventType::kCqErr, &cq});
  EXPECT_FALSE(readable(channel_->fd));
  EXPECT_EQ(context_.next(), -1);
}

TEST_F(EventsTest, ADestroyThatIsRefusedKeepsTheEventsAndTheObject) {
  Cq& cq = make_cq();
  dispatch_event({EventType::kCompletion, &cq});
  EXPECT_EQ(end_life(cq, [](const device::Quiesce&) { return -EBUSY; }), -EBUSY);
  EXPECT_EQ(end_life(cq,
                     [](const device::Quiesce& quiesce) {
                       quiesce();
                       return -ETIMEDOUT;
                     }),
            -ETIMEDOUT);
  dispatch_event({EventType::kCompletion, &cq});
  ibv_cq* got = nullptr;
  EXPECT_EQ(get(got), 0);
  EXPECT_EQ(get(got), 0);
  ibv_ack_cq_events(got, 2);
  end_life(cq);
}

TEST_F(EventsTest, DestroyingACqWaitsForEventsThatWereGivenOut) {
  Cq& cq = make_cq();
  for (int i = 0; i < 3; ++i) dispatch_event({EventType::kCompletion, &cq});
  dispatch_event({EventType::kCqErr, &cq});
  ibv_cq* got = nullptr;
  ASSERT_EQ(get(got), 0);
  ASSERT_EQ(get(got), 0);
  ibv_async_event error{};
  ASSERT_EQ(ibv_get_async_event(context_.get(), &error), 0);
  std::atomic<bool> acknowledged{false};
  std::thread application([&] {
    ibv_ack_cq_events(got, 1);
    ibv_ack_async_event(&error);
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    acknowledged = true;
    ibv_ack_cq_events(got, 1);
  });
  end_life(cq);
  EXPECT_TRUE(acknowledged);
  application.join();
}

TEST_F(EventsTest, EventsOfObjectsGoToTheirContextAndAreWaitedFor) {
  Cq& cq = make_cq();
  Qp& qp = make_qp();
  auto* srq = new Srq{};
  srq->context = context_.get();
  begin_life(*srq);
  OpenContext other;
  dispatch_event({EventType::kCqErr, &cq});
  dispatch_event({EventType::kQpLastWqeReached, &qp});
  dispatch_event({EventType::kSrqLimitReached, srq});
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(context_.get(), &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event.element.cq, plain(cq));
  ibv_ack_async_event(&event);
  ASSERT_EQ(ibv_get_async_event(context_.get(), &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(event.element.qp, plain(qp));
  ibv_ack_async_event(&event);
  ASSERT_EQ(ibv_get_async_event(context_.get(), &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(event.element.srq, srq);
  EXPECT_EQ(other.next(), -1);
  std::thread application([&event] { ibv_ack_async_event(&event); });
  end_life(*srq);
  application.join();
  end_life(qp);
  end_life(cq);
}

TEST_F(EventsTest, WhatAnObjectThatEndsHasInTheQueueGoesAndTheRestStays) {
  Qp& first = make_qp();
  Qp& second = make_qp();
  dispatch_event({EventType::kQpFatal, &first});
  dispatch_event({EventType::kCommEst, &second});
  dispatch_event({EventType::kQpFatal, &first});
  end_life(first);
  EXPECT_EQ(context_.next(), IBV_EVENT_COMM_EST);
  EXPECT_FALSE(readable(context_.fd()));
  end_life(second);
}

TEST_F(EventsTest, PortEventsReachEveryOpenContextOfTheDevice) {
  OpenContext other_device(1);
  {
    OpenContext closed;
    dispatch_port_event(0, EventType::kPortErr);
    EXPECT_EQ(closed.next(), IBV_EVENT_PORT_ERR);
  }
  OpenContext late;
  dispatch_port_event(0, EventType::kPortActive);
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(late.get(), &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ACTIVE);
  EXPECT_EQ(event.element.port_num, 1);
  ibv_ack_async_event(&event);
  EXPECT_EQ(context_.next(), IBV_EVENT_PORT_ERR);
  EXPECT_EQ(context_.next(), IBV_EVENT_PORT_ACTIVE);
  EXPECT_EQ(context_.next(), -1);
  EXPECT_EQ(other_device.next(), -1);
}

}  // namespace
}  // namespace uroce::ibverbs
