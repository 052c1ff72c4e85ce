// SPDX-License-Identifier: BSD-3-Clause
// The lists that an engine keeps of its queue pairs, and what a fresh engine is like.
#include "engine/engine_state.h"

#include <gtest/gtest.h>

#include "engine/engine_fixture.h"

namespace uroce::engine {
namespace {

using transport::QpContext;

std::vector<QpContext*> drain(TransmitList& list) {
  std::vector<QpContext*> order;
  while (!list.empty()) {
    order.push_back(&list.front());
    list.pop_front();
  }
  return order;
}

TEST(TransmitList, IsFirstInFirstOutAndHoldsEachOnce) {
  QpContext a;
  QpContext b;
  TransmitList list;
  list.push_back(a);
  list.push_back(b);
  list.push_back(a);
  EXPECT_EQ(drain(list), (std::vector<QpContext*>{&a, &b}));
  EXPECT_FALSE(a.on_transmit_list || b.on_transmit_list);
}

TEST(TransmitList, RemovesFromEveryPlace) {
  QpContext qps[3];
  for (QpContext& gone : qps) {
    TransmitList list;
    std::vector<QpContext*> expected;
    for (QpContext& qp : qps) {
      list.push_back(qp);
      if (&qp != &gone) expected.push_back(&qp);
    }
    list.remove(gone);
    list.remove(gone);
    list.push_back(gone);  // the tail is where it should be
    expected.push_back(&gone);
    EXPECT_EQ(drain(list), expected);
  }
}

TEST(ArmedTimeouts, TheShortestIsKnownAndForgotten) {
  ArmedTimeouts timeouts;
  QpContext slow;
  QpContext fast;
  QpContext endless;
  slow.attributes.timeout = 18;
  fast.attributes.timeout = 8;
  endless.attributes.timeout = 0;
  EXPECT_EQ(timeouts.shortest(), Duration::max());
  for (QpContext* qp : {&slow, &fast, &endless}) {
    qp->req.ack_deadline = Time(Duration(1));
    timeouts.update(*qp);
  }
  EXPECT_EQ(timeouts.shortest(), transport::ack_timeout(8));
  fast.attributes.timeout = 10;  // modified while it runs
  timeouts.update(fast);
  EXPECT_EQ(timeouts.shortest(), transport::ack_timeout(10));
  fast.req.ack_deadline = kNever;
  timeouts.update(fast);
  EXPECT_EQ(timeouts.shortest(), transport::ack_timeout(18));
  timeouts.forget(slow);
  EXPECT_EQ(timeouts.shortest(), Duration::max());
}

TEST(GroupPresence, ForgetsNoMemberHoweverManyEnginesThereAre) {
  const Gid group = Gid::from_ipv4(0xEF010203);
  for (const uint32_t engines : {1u, 2u}) {
    GroupPresence presence(engines, 1);
    EXPECT_FALSE(presence.maybe(0, group));
    presence.add(engines - 1, group);
    EXPECT_EQ(presence.maybe(0, group), engines == 1);
    EXPECT_TRUE(presence.maybe(engines - 1, group));
    presence.remove(engines - 1, group);
    EXPECT_FALSE(presence.maybe(engines - 1, group));
  }
}

TEST(HandoffRing, HasRoomWhereThereAreOtherEngines) {
  EXPECT_EQ(HandoffRing(1).size, 0u);
  EXPECT_EQ(HandoffRing(2).size, 4096u);
}

class StateTest : public ::testing::Test {
 protected:
  StateTest() {
    shared.keys = &keys;
    shared.engine_count = 2;
    shared.qp_slots_per_engine = 16;
    shared.groups = std::make_unique<GroupPresence>(2, 1);
    config.shared = &shared;
    config.mac = {{2, 0, 0, 0, 0, 1}};
  }
  memory::KeyTable keys{4};
  DeviceShared shared;
  EngineConfig config;
};

TEST_F(StateTest, OnlyEngineZeroOfAnOwnPortIsAHost) {
  EXPECT_NE(EngineState(config).host, nullptr);
  config.index = 1;
  EXPECT_EQ(EngineState(config).host, nullptr);
  config.index = 0;
  config.own_port = false;
  EXPECT_EQ(EngineState(config).host, nullptr);
}

TEST_F(StateTest, SettlePutsAQueuePairWhereItBelongs) {
  EngineState engine(config);
  TestDevice device({});
  TestQp memory(device, QpType::kRc, Qpn(0x100 | 3), 16);
  QpContext& qp = engine.qps.open(memory.qpn);
  qp.queues = memory.queues;
  qp.state = QpState::kRts;
  qp.attributes.timeout = 9;
  settle(engine, qp);
  EXPECT_TRUE(engine.transmit.empty()) << "nothing to send";
  EXPECT_EQ(engine.timers.next_expiry(), kNever);
  qp.req.ack_deadline = Time(Duration(500'000));
  memory.queues->send.producer.store(1);
  settle(engine, qp);
  settle(engine, qp);
  EXPECT_EQ(drain(engine.transmit), std::vector<QpContext*>{&qp});
  EXPECT_LE(engine.timers.next_expiry(), Time(Duration(500'000 + TimerWheel::kTickNs)));
  EXPECT_EQ(engine.timeouts.shortest(), transport::ack_timeout(9));
}

}  // namespace
}  // namespace uroce::engine
