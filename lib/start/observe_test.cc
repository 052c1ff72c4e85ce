// SPDX-License-Identifier: BSD-3-Clause
// Tests of what a program can see of two devices on memory rings.
#include "uroce/observe.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <uroce/ib_verbs.h>
#include <uroce/multicast.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

uroce_context* start() {
  std::istringstream line(
      "observe_test --no-huge --no-pci --no-shconf --no-telemetry -m 256 -l 0 -- --rings 1 "
      "--port net_ring_u0,address=10.0.0.1/24 --port net_ring_u1,address=10.0.0.2/24");
  const std::vector<std::string> words{std::istream_iterator<std::string>(line), {}};
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  uroce_context* context = nullptr;
  EXPECT_EQ(uroce_start(static_cast<int>(arguments.size()), arguments.data(), &context), 0)
      << uroce_error();
  return context;
}

// DPDK starts once in a process: one context for all tests.
class Observe : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    context_ = start();
    ASSERT_NE(context_, nullptr);
  }
  static void TearDownTestSuite() {
    ASSERT_NE(context_, nullptr);
    EXPECT_EQ(uroce_stop(context_), 0) << uroce_error();
    const char* const arguments[] = {"observe_test", "--no-huge", "--", "--rings", "1"};
    EXPECT_EQ(uroce_start(5, arguments, &context_), -EALREADY) << "DPDK starts once";
    EXPECT_EQ(context_, nullptr);
  }
  static uroce_context* context_;
};
uroce_context* Observe::context_ = nullptr;

// A UD queue pair that can receive.
struct DatagramQp {
  explicit DatagramQp(ib_device* device) {
    pd = ib_alloc_pd(device, 0);
    ib_cq_init_attr cq_attr{};
    cq_attr.cqe = 16;
    cq = ib_create_cq(device, nullptr, nullptr, nullptr, &cq_attr);
    ib_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {4, 4, 1, 1, 0, 0};
    init.qp_type = IB_QPT_UD;
    qp = ib_create_qp(pd, &init);
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_INIT;
    attr.port_num = 1;
    attr.qkey = 0x1234;
    ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
    attr.qp_state = IB_QPS_RTR;
    ib_modify_qp(qp, &attr, IB_QP_STATE);
  }
  ~DatagramQp() {
    EXPECT_EQ(ib_destroy_qp(qp), 0);
    EXPECT_EQ(ib_destroy_cq(cq), 0);
    ib_dealloc_pd(pd);
  }
  ib_pd* pd;
  ib_cq* cq;
  ib_qp* qp;
};

TEST_F(Observe, a_port_says_what_it_is) {
  const auto see = [](void* seen, const uroce_port_info* port) {
    ++*static_cast<int*>(seen);
    EXPECT_STREQ(port->device, "uroce1");
    EXPECT_STREQ(port->port, "net_ring_u1");
    EXPECT_STREQ(port->driver, "net_ring");
    EXPECT_FALSE(port->shared);
    EXPECT_STREQ(port->group_filter, "needs none: the port filters nothing");
    EXPECT_EQ(port->path_mtu_bytes, 4096u);
    EXPECT_GE(port->frame_bytes_max, 4096u + 84 + 14);
    EXPECT_TRUE(port->link_up);
    EXPECT_EQ(port->vlan_id, 0);
    EXPECT_EQ(port->queue_count, 1u);
    ASSERT_EQ(port->address_count, 2u);
    EXPECT_EQ(std::string(port->addresses[0]).substr(0, 6), "fe80::");
    EXPECT_STREQ(port->addresses[1], "10.0.0.2");
  };
  int seen = 0;
  EXPECT_EQ(uroce_observe_port(context_, 1, see, &seen), 1);
  EXPECT_EQ(seen, 1);
}

TEST_F(Observe, a_device_that_does_not_exist_is_refused) {
  EXPECT_EQ(uroce_observe_port(context_, 2, nullptr, nullptr), -ENODEV);
  EXPECT_EQ(uroce_observe_counters(context_, 2, nullptr, nullptr), -ENODEV);
  EXPECT_EQ(uroce_observe_qps(context_, 2, nullptr, nullptr), -ENODEV);
  EXPECT_EQ(uroce_observe_groups(context_, 2, nullptr, nullptr), -ENODEV);
}

TEST_F(Observe, the_clock_of_receive_times_goes_on) {
  const uint64_t before = uroce_clock_ns(context_);
  usleep(2000);
  const uint64_t after = uroce_clock_ns(context_);
  EXPECT_GE(after - before, 1'900'000u);
  EXPECT_LT(after, 3'600'000'000'000u) << "from when the context was made";
}

TEST_F(Observe, counters_move_with_the_loop) {
  using Values = std::map<std::string, uint64_t>;
  const auto see = [](void* values, const uroce_counter* counter) {
    if (counter->group == UROCE_COUNTER_LOOP) {
      (*static_cast<Values*>(values))[counter->name] = counter->value;
    }
  };
  Values before;
  Values after;
  EXPECT_GT(uroce_observe_counters(context_, 0, see, &before), 100);
  for (int i = 0; i < 10; ++i) uroce_poll(context_);
  uroce_observe_counters(context_, 0, see, &after);
  EXPECT_EQ(after["turns"], before["turns"] + 10);
}

TEST_F(Observe, queue_pairs_and_groups_come_and_go) {
  struct Seen {
    std::vector<uint32_t> qpns;
    std::vector<std::string> groups;
    std::vector<uint32_t> members;
  };
  const auto see_qp = [](void* seen, const uroce_qp_info* qp) {
    static_cast<Seen*>(seen)->qpns.push_back(qp->qpn);
    EXPECT_EQ(qp->type, IB_QPT_UD);
    EXPECT_EQ(qp->state, IB_QPS_RTR);
    EXPECT_EQ(qp->qkey, 0x1234u);
    EXPECT_STREQ(qp->peer, "");
    EXPECT_EQ(qp->group_count, 1u);
    EXPECT_STREQ(qp->groups[0], "239.1.1.1");
  };
  const auto see_group = [](void* argument, const uroce_group_info* group) {
    auto* seen = static_cast<Seen*>(argument);
    seen->groups.push_back(group->address);
    seen->members.assign(group->members, group->members + group->member_count);
    EXPECT_EQ(group->mac[0], 0x01);
    EXPECT_EQ(group->mac[5], 0x01);
  };
  Seen seen;
  ib_device* device = uroce_device(context_, 0);
  ib_gid group{};
  group.raw[10] = group.raw[11] = 0xff;
  group.raw[12] = 239;
  group.raw[13] = group.raw[14] = group.raw[15] = 1;
  {
    const DatagramQp first(device);
    const DatagramQp second(device);
    ASSERT_EQ(ib_attach_mcast(first.qp, &group, 0), 0);
    ASSERT_EQ(ib_attach_mcast(second.qp, &group, 0), 0);
    EXPECT_EQ(uroce_observe_qps(context_, 0, see_qp, &seen), 2);
    EXPECT_EQ(uroce_observe_groups(context_, 0, see_group, &seen), 1);
    const std::vector<uint32_t> both = {std::min(first.qp->qp_num, second.qp->qp_num),
                                        std::max(first.qp->qp_num, second.qp->qp_num)};
    EXPECT_EQ(seen.qpns, both);
    EXPECT_EQ(seen.members, both);
    EXPECT_EQ(seen.groups, std::vector<std::string>{"239.1.1.1"});
    EXPECT_EQ(uroce_observe_qps(context_, 1, see_qp, &seen), 0);
    ASSERT_EQ(ib_detach_mcast(first.qp, &group, 0), 0);
    ASSERT_EQ(ib_detach_mcast(second.qp, &group, 0), 0);
    EXPECT_EQ(uroce_observe_groups(context_, 0, see_group, &seen), 0);
  }
  EXPECT_EQ(uroce_observe_qps(context_, 0, see_qp, &seen), 0);
}

TEST_F(Observe, a_group_shows_which_members_are_by_source) {
  ib_device* device = uroce_device(context_, 0);
  const DatagramQp every(device);
  const DatagramQp some(device);
  ASSERT_EQ(uroce_join_mcast(some.qp, "10.0.0.9@239.1.1.1"), 0);
  ASSERT_EQ(uroce_join_mcast(some.qp, "10.0.0.7@239.1.1.1"), 0);
  struct Seen {
    std::map<uint32_t, uint32_t> sources_of;
    std::vector<std::string> sources;
    bool every_source;
  };
  const auto see = [](void* argument, const uroce_group_info* group) {
    auto* seen = static_cast<Seen*>(argument);
    for (uint32_t i = 0; i < group->member_count; ++i) {
      seen->sources_of[group->members[i]] = group->member_sources[i];
    }
    seen->sources.assign(group->sources, group->sources + group->source_count);
    seen->every_source = group->every_source;
  };
  Seen seen{};
  EXPECT_EQ(uroce_observe_groups(context_, 0, see, &seen), 1);
  EXPECT_FALSE(seen.every_source);
  ASSERT_EQ(uroce_join_mcast(every.qp, "239.1.1.1"), 0);
  EXPECT_EQ(uroce_observe_groups(context_, 0, see, &seen), 1);
  EXPECT_TRUE(seen.every_source);
  EXPECT_EQ(seen.sources_of,
            (std::map<uint32_t, uint32_t>{{every.qp->qp_num, 0}, {some.qp->qp_num, 2}}));
  EXPECT_EQ(seen.sources, (std::vector<std::string>{"10.0.0.7", "10.0.0.9"}));
  EXPECT_EQ(uroce_leave_mcast(every.qp, "239.1.1.1"), 0);
  EXPECT_EQ(uroce_leave_mcast(some.qp, "239.1.1.1"), 0);
}

}  // namespace
