// SPDX-License-Identifier: BSD-3-Clause
// Tests of events on their way to handlers.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "base/log.h"
#include "device/live_objects.h"
#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class EventsTest : public FaceTest {};

struct Subscriber : ib_event_handler {
  std::vector<ib_event_type> seen;
  static void called(ib_event_handler* self, ib_event* event) {
    EXPECT_EQ(event->element.port_num, 1u);
    EXPECT_EQ(event->device, self->device);
    static_cast<Subscriber*>(self)->seen.push_back(event->event);
  }
};

TEST_F(EventsTest, PortEventsReachEverySubscriberUntilItLeaves) {
  Subscriber first;
  Subscriber second;
  INIT_IB_EVENT_HANDLER(&first, ibdev_, &Subscriber::called);
  INIT_IB_EVENT_HANDLER(&second, ibdev_, &Subscriber::called);
  ib_register_event_handler(&first);
  ib_register_event_handler(&second);
  bed_.port.port.link_up = false;
  bed_.device().refresh_link();
  ib_unregister_event_handler(&first);
  bed_.port.port.link_up = true;
  bed_.device().refresh_link();
  bed_.port.list.pop_back();
  rdma_roce_rescan_device(ibdev_);
  ib_unregister_event_handler(&second);
  bed_.port.port.link_up = false;
  bed_.device().refresh_link();
  EXPECT_EQ(first.seen, std::vector{IB_EVENT_PORT_ERR});
  EXPECT_EQ(second.seen,
            (std::vector{IB_EVENT_PORT_ERR, IB_EVENT_PORT_ACTIVE, IB_EVENT_GID_CHANGE}));
}

TEST_F(EventsTest, AConnectionThatGaveUpIsLoggedOnce) {
  std::vector<std::string> lines;
  set_log_sink(
      [](void* to, LogLevel, std::string_view sentence) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(sentence);
      },
      &lines);
  const auto [a, b] = connected();
  forget(b);
  ASSERT_EQ(ib_destroy_qp(b), 0);
  ASSERT_EQ(post_send(a, memory_.data(), 8, 7), 0);
  const auto start = bed_.clock();
  std::vector<ib_wc> entries;
  while (entries.empty() && bed_.clock() - start < std::chrono::seconds(1)) {
    entries = settle_and_poll();
  }
  set_log_sink(nullptr, nullptr);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].status, IB_WC_RETRY_EXC_ERR);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("retry_cnt ran out"), std::string::npos) << lines[0];
}

TEST_F(EventsTest, QueuePairEventsReachItsHandlerAndNobodyAfterDestruction) {
  ib_qp_init_attr attr = init(IB_QPT_UD);
  int calls = 0;
  attr.qp_context = &calls;
  attr.event_handler = [](ib_event* event, void* context) {
    EXPECT_EQ(event->event, IB_EVENT_QP_FATAL);
    EXPECT_EQ(event->element.qp->qp_type, IB_QPT_UD);
    ++*static_cast<int*>(context);
  };
  ib_qp* qp = ib_create_qp(pd_, &attr);
  ASSERT_FALSE(IS_ERR(qp));
  const transport::Event event{transport::EventType::kQpFatal, qp};
  dispatch_event(event);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(ib_destroy_qp(qp), 0);
  dispatch_event(event);  // it was still in a ring
  EXPECT_EQ(calls, 1);
}

TEST_F(EventsTest, CompletionAndErrorEventsReachTheCqsTwoHandlers) {
  dispatch_event({transport::EventType::kCompletion, cq_});
  EXPECT_EQ(completion_events_, 1);
  dispatch_event({transport::EventType::kCqErr, cq_});
  EXPECT_EQ(cq_events_, std::vector{IB_EVENT_CQ_ERR});
  EXPECT_EQ(completion_events_, 1);
  const ib_cq_init_attr attr{.cqe = 1, .comp_vector = 0, .flags = 0};
  ib_cq* silent = ib_create_cq(ibdev_, nullptr, nullptr, nullptr, &attr);
  ASSERT_FALSE(IS_ERR(silent));
  dispatch_event({transport::EventType::kCompletion, silent});
  dispatch_event({transport::EventType::kCqErr, silent});
  EXPECT_EQ(ib_destroy_cq(silent), 0);
}

// What is refused has never been away: an event that comes meanwhile finds it.
TEST_F(EventsTest, ADestroyThatIsRefusedDoesNotKeepEventsFromTheObject) {
  make(IB_QPT_RC);
  std::atomic<bool> inside{false};
  std::atomic<bool> refused{false};
  std::atomic<bool> left{false};
  std::thread handler([&] {
    ASSERT_TRUE(device::LiveObjects::instance().enter(cq_));
    inside = true;
    for (int i = 0; i < 100'000 && !refused; ++i) std::this_thread::yield();
    left = true;
    device::LiveObjects::instance().leave(cq_);
  });
  while (!inside) std::this_thread::yield();
  EXPECT_EQ(ib_destroy_cq(cq_), -EBUSY);
  EXPECT_FALSE(left) << "the destroy has waited for the handler to leave";
  dispatch_event({transport::EventType::kCompletion, cq_});
  EXPECT_EQ(completion_events_, 1);
  refused = true;
  handler.join();
}

TEST_F(EventsTest, AHandlerMayDestroyItsOwnCq) {
  const ib_cq_init_attr attr{.cqe = 1, .comp_vector = 0, .flags = 0};
  ib_cq* cq = ib_create_cq(
      ibdev_, [](ib_cq* self, void*) { EXPECT_EQ(ib_destroy_cq(self), 0); }, nullptr, nullptr,
      &attr);
  ASSERT_FALSE(IS_ERR(cq));
  dispatch_event({transport::EventType::kCompletion, cq});
  dispatch_event({transport::EventType::kCompletion, cq});
}

}  // namespace
}  // namespace uroce::verbs
