// SPDX-License-Identifier: BSD-3-Clause
// Tests of multicast membership: order of checks, filters, joins, and what a failure leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "device/device_fixture.h"
#include "group/mgid.h"

namespace uroce::device {
namespace {

using transport::QpType;

class Multicast : public ObjectsBed, public testing::Test {
 protected:
  explicit Multicast(const TestBedOptions& options = {}) : ObjectsBed(options) {
    bed_.port.log.clear();
    for_addresses_ = bed_.port.macs;
    make(QpType::kUd, a_);
    make(QpType::kUd, b_);
  }
  ~Multicast() override {
    EXPECT_EQ(device().destroy_qp(a_), 0);
    EXPECT_EQ(device().destroy_qp(b_), 0);
  }
  int attach(QpHandle& qp, const Gid& group) { return device().attach_multicast(qp, group); }
  int detach(QpHandle& qp, const Gid& group) { return device().detach_multicast(qp, group); }
  // What passes the filter beside what the port's own addresses need.
  std::vector<MacAddress> group_macs() const {
    std::vector<MacAddress> macs;
    std::set_difference(bed_.port.macs.begin(), bed_.port.macs.end(), for_addresses_.begin(),
                        for_addresses_.end(), std::back_inserter(macs));
    return macs;
  }

  std::vector<MacAddress> for_addresses_;
  QpHandle a_;
  QpHandle b_;
};

// MC-02, MC-03, MC-05, MC-23.
TEST_F(Multicast, OnlyGroupsCanBeAttachedTo) {
  const Gid link_local{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  for (const Gid& gid : {link_local, Gid::from_ipv4(0x0A000001), Gid::from_ipv4(0xDFFFFFFF),
                         Gid::from_ipv4(0xF0000000), Gid{}}) {
    EXPECT_EQ(attach(a_, gid), -EINVAL);
    EXPECT_EQ(detach(a_, gid), -EINVAL);
  }
  EXPECT_TRUE(bed_.port.log.empty());
}

// MC-04, MC-10; MF-01, MF-03.
TEST_F(Multicast, GroupsOfBothVersionsOpenTheirFilter) {
  const std::pair<Gid, MacAddress> groups[] = {
      {Gid::from_ipv4(0xE0000002), {{0x01, 0x00, 0x5e, 0, 0, 2}}},
      {Gid::from_ipv4(0xEFFFFFFF), {{0x01, 0x00, 0x5e, 0x7f, 0xff, 0xff}}},
      {kTestGroup6, {{0x33, 0x33, 0, 1, 0, 2}}}};
  for (const auto& [group, mac] : groups) {
    EXPECT_EQ(attach(a_, group), 0);
    EXPECT_EQ(group_macs(), std::vector{mac});
    EXPECT_EQ(detach(a_, group), 0);
    EXPECT_TRUE(group_macs().empty());
  }
}

// MC-06, MC-24.
TEST_F(Multicast, OnlyUdQueuePairsCanAttach) {
  for (const QpType type : {QpType::kRc, QpType::kGsi}) {
    QpHandle qp;
    make(type, qp);
    EXPECT_EQ(attach(qp, kTestGroup), -EINVAL);
    EXPECT_EQ(detach(qp, kTestGroup), -EINVAL);
    EXPECT_EQ(device().destroy_qp(qp), 0);
  }
}

// MC-09, MC-30, MC-31.
TEST_F(Multicast, MembershipIsASet) {
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  EXPECT_EQ(detach(a_, kTestGroup), 0);
  EXPECT_EQ(detach(a_, kTestGroup), -EINVAL);
}

// MC-20, MC-21, MC-22, MC-25.
TEST_F(Multicast, OnlyAMemberCanDetachAndOnlyItself) {
  EXPECT_EQ(detach(a_, kTestGroup), -EINVAL);
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  EXPECT_EQ(attach(a_, kTestGroup6), 0);
  EXPECT_EQ(detach(b_, kTestGroup), -EINVAL);
  EXPECT_EQ(detach(a_, kTestGroup), 0);
  EXPECT_EQ(a_.object->groups, (std::map<Gid, std::set<Gid>>{{kTestGroup6, {}}}));
  EXPECT_EQ(detach(a_, kTestGroup6), 0);
}

// MC-32; QP-30.
TEST_F(Multicast, AMemberCannotBeDestroyed) {
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  EXPECT_EQ(device().destroy_qp(a_), -EBUSY);
  EXPECT_EQ(detach(a_, kTestGroup), 0);
}

// MC-27; MF-02: one filter entry for all members and for all groups with this MAC address.
TEST_F(Multicast, TheFilterFollowsTheFirstAndTheLastMemberOfAnyGroupWithThatMac) {
  const Gid same_mac = Gid::from_ipv4(0xEF810203);
  ASSERT_EQ(group::mac_of(same_mac), group::mac_of(kTestGroup));
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  EXPECT_EQ(attach(b_, kTestGroup), 0);
  EXPECT_EQ(attach(b_, same_mac), 0);
  EXPECT_EQ(bed_.port.log.size(), 1u);
  EXPECT_EQ(detach(a_, kTestGroup), 0);
  EXPECT_EQ(detach(b_, kTestGroup), 0);
  EXPECT_EQ(group_macs().size(), 1u);
  EXPECT_EQ(detach(b_, same_mac), 0);
  EXPECT_TRUE(group_macs().empty());
}

TEST_F(Multicast, AFilterThatFailsLeavesNothing) {
  bed_.port.filter_error = -ENOSPC;
  EXPECT_EQ(attach(a_, kTestGroup), -ENOSPC);
  EXPECT_EQ(detach(a_, kTestGroup), -EINVAL);
  bed_.port.filter_error = 0;
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  EXPECT_EQ(group_macs().size(), 1u);
  EXPECT_EQ(detach(a_, kTestGroup), 0);
}

// A group and an address need the same filter entry: each keeps it open for itself.
TEST_F(Multicast, AGroupThatAnAddressNeedsStaysOpenUntilBothHaveGone) {
  const Gid address{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x55}};
  const Gid solicited{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 0x55}};
  const MacAddress mac = group::mac_of(solicited);
  const auto open = [&] { return std::ranges::count(bed_.port.macs, mac) == 1; };
  EXPECT_FALSE(open());
  bed_.port.list.push_back({address, 64});
  EXPECT_EQ(device().rescan_addresses(), 0);
  EXPECT_TRUE(open());
  EXPECT_EQ(attach(a_, solicited), 0);
  EXPECT_EQ(detach(a_, solicited), 0);
  EXPECT_TRUE(open());
  EXPECT_EQ(attach(a_, solicited), 0);
  bed_.port.list.pop_back();
  EXPECT_EQ(device().rescan_addresses(), 0);
  EXPECT_TRUE(open());
  EXPECT_EQ(detach(a_, solicited), 0);
  EXPECT_FALSE(open());
}

class SharedMulticast : public Multicast {
 protected:
  SharedMulticast() : Multicast(TestBedOptions{.shared_port = true}) {}
};

TEST_F(SharedMulticast, TheKernelJoinsAndLeavesOnceForAllMembers) {
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  EXPECT_EQ(attach(b_, kTestGroup), 0);
  EXPECT_EQ(detach(a_, kTestGroup), 0);
  EXPECT_EQ(bed_.port.log, std::vector<std::string>{"join"});
  EXPECT_EQ(detach(b_, kTestGroup), 0);
  EXPECT_EQ(bed_.port.log, (std::vector<std::string>{"join", "leave"}));
}

TEST_F(SharedMulticast, AJoinThatFailsIsTheError) {
  bed_.port.join_error = -ENOBUFS;
  EXPECT_EQ(attach(a_, kTestGroup), -ENOBUFS);
  EXPECT_EQ(detach(a_, kTestGroup), -EINVAL);
}

class MulticastSource : public Multicast {
 protected:
  explicit MulticastSource(const TestBedOptions& options = {.shared_port = true})
      : Multicast(options) {}
  int attach(QpHandle& qp, const Gid& source) {
    return device().attach_multicast_source(qp, kTestGroup, source);
  }
  int detach(QpHandle& qp, const Gid& source) {
    return device().detach_multicast_source(qp, kTestGroup, source);
  }
  int attach_to_every(QpHandle& qp) { return device().attach_multicast(qp, kTestGroup); }
  using Log = std::vector<std::string>;
  static constexpr Gid kA = Gid::from_ipv4(0x0A000002);
  static constexpr Gid kB = Gid::from_ipv4(0x0A000003);
};

TEST_F(MulticastSource, TheNetworkIsAskedForTheUnionOnce) {
  EXPECT_EQ(attach(a_, kA), 0);
  EXPECT_EQ(attach(a_, kA), 0) << "a set";
  EXPECT_EQ(attach(b_, kA), 0);
  EXPECT_EQ(attach(b_, kB), 0);
  EXPECT_EQ(bed_.port.log, (Log{"sources 1", "sources 2"}));
  EXPECT_EQ(device().destroy_qp(a_), -EBUSY);
  EXPECT_EQ(detach(a_, kA), 0);
  EXPECT_EQ(detach(b_, kA), 0);
  EXPECT_EQ(detach(b_, kB), 0);
  EXPECT_EQ(bed_.port.log, (Log{"sources 1", "sources 2", "sources 1", "leave"}));
}

TEST_F(MulticastSource, AMemberOfEverySourceMakesSourcesNeedless) {
  EXPECT_EQ(attach(a_, kA), 0);
  EXPECT_EQ(attach_to_every(b_), 0);
  EXPECT_EQ(attach(a_, kB), 0);
  EXPECT_EQ(device().detach_multicast(b_, kTestGroup), 0);
  EXPECT_EQ(bed_.port.log, (Log{"sources 1", "join", "sources 2"}));
  EXPECT_EQ(device().detach_multicast(a_, kTestGroup), 0) << "all sources at once";
  EXPECT_EQ(bed_.port.log.back(), "leave");
}

// As with sockets: the one kind of membership is not changed into the other.
TEST_F(MulticastSource, TheTwoKindsOfMembershipDoNotMix) {
  EXPECT_EQ(attach_to_every(a_), 0);
  EXPECT_EQ(attach(a_, kA), -EINVAL);
  EXPECT_EQ(detach(a_, kA), -EINVAL);
  EXPECT_EQ(device().detach_multicast(a_, kTestGroup), 0);
  EXPECT_EQ(attach(a_, kA), 0);
  EXPECT_EQ(attach_to_every(a_), -EADDRINUSE);
  EXPECT_EQ(detach(a_, kB), -EADDRNOTAVAIL);
  EXPECT_EQ(detach(a_, kA), 0);
  EXPECT_EQ(detach(a_, kA), -EINVAL);
}

TEST_F(MulticastSource, ASourceIsAHostOfTheGroupsFamily) {
  for (const Gid& bad : {Gid{}, Gid::from_ipv4(0), kTestGroup, kTestIpv6}) {
    EXPECT_EQ(attach(a_, bad), -EINVAL);
  }
  EXPECT_EQ(device().attach_multicast_source(a_, kTestIpv4, kA), -EINVAL);
  EXPECT_EQ(device().attach_multicast_source(a_, kTestGroup6, kTestIpv6), 0);
  EXPECT_EQ(device().detach_multicast(a_, kTestGroup6), 0);
}

TEST_F(MulticastSource, AFailureLeavesWhatWasThere) {
  EXPECT_EQ(attach(a_, kA), 0);
  bed_.port.join_error = -ENOBUFS;
  EXPECT_EQ(attach(a_, kB), -ENOBUFS);
  EXPECT_EQ(attach_to_every(b_), -ENOBUFS);
  EXPECT_EQ(detach(a_, kB), -EADDRNOTAVAIL);
  bed_.port.join_error = 0;
  EXPECT_EQ(attach(a_, kB), 0);
  EXPECT_EQ(bed_.port.log.back(), "sources 2");
  EXPECT_EQ(device().detach_multicast(a_, kTestGroup), 0);
}

class OwnMulticastSource : public MulticastSource {
 protected:
  OwnMulticastSource() : MulticastSource(TestBedOptions{}) {}
};

TEST_F(OwnMulticastSource, TheFilterOpensWithTheFirstSourceAndClosesWithTheLast) {
  EXPECT_EQ(attach(a_, kA), 0);
  EXPECT_EQ(attach(b_, kB), 0);
  EXPECT_EQ(bed_.port.log.size(), 1u);
  EXPECT_EQ(group_macs().size(), 1u);
  EXPECT_EQ(detach(a_, kA), 0);
  EXPECT_EQ(group_macs().size(), 1u);
  EXPECT_EQ(detach(b_, kB), 0);
  EXPECT_TRUE(group_macs().empty());
}

// A worker that stands still for longer than a call waits, and goes on later.
class StalledMulticast : public Multicast {
 protected:
  StalledMulticast() : Multicast(TestBedOptions{.mode = engine::DriveMode::kWorker}) {
    bed_.settle(3000);
    bed_.wire.clear();
  }
  void stall() {
    bed_.on_clock = [this] { bed_.pass(std::chrono::milliseconds(100)); };
  }
  void resume() {
    bed_.on_clock = [this] { bed_.work(); };
    bed_.settle(3000);
  }
  // Record types of the IGMPv3 reports that were sent: CHANGE_TO_INCLUDE and so on.
  std::vector<int> reports() const {
    constexpr size_t kIgmp = 14 + 24;  // behind an IPv4 header with Router Alert
    std::vector<int> types;
    for (const std::vector<uint8_t>& frame : bed_.wire) {
      if (frame.size() > kIgmp + 8 && frame[12] == 0x08 && frame[23] == 2) {
        types.push_back(frame[kIgmp + 8]);
      }
    }
    return types;
  }
  bool engine_has(const QpHandle& qp) {
    engine::MulticastCommand again(engine::Command::Kind::kAttachMulticast);
    again.qpn = qp.qpn;
    again.group = kTestGroup;
    bed_.seat().engine().handle_command(bed_.clock(), again);
    return again.result == 0 && !again.changed;
  }
  static constexpr Gid kA = Gid::from_ipv4(0x0A000002);
  static constexpr Gid kB = Gid::from_ipv4(0x0A000003);
  static constexpr int kToInclude = 3;
  static constexpr int kToExclude = 4;
};

TEST_F(StalledMulticast, AnAttachThatTimedOutHasChangedNothing) {
  stall();
  EXPECT_EQ(attach(a_, kTestGroup), -ETIMEDOUT);
  resume();
  EXPECT_TRUE(device().list_groups().empty());
  EXPECT_TRUE(group_macs().empty());
  EXPECT_TRUE(reports().empty());
  EXPECT_EQ(detach(a_, kTestGroup), -EINVAL);
}

TEST_F(StalledMulticast, ADetachThatTimedOutHasChangedNothing) {
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  stall();
  EXPECT_EQ(detach(a_, kTestGroup), -ETIMEDOUT);
  resume();
  EXPECT_TRUE(engine_has(a_));
  EXPECT_EQ(attach(a_, kTestGroup), 0) << "already a member";
  EXPECT_EQ(device().destroy_qp(a_), -EBUSY);
  EXPECT_EQ(detach(a_, kTestGroup), 0);
  EXPECT_EQ(detach(a_, kTestGroup), -EINVAL);
  EXPECT_TRUE(group_macs().empty());
}

TEST_F(StalledMulticast, SoHasOneBySource) {
  EXPECT_EQ(device().attach_multicast_source(a_, kTestGroup, kA), 0);
  EXPECT_EQ(device().attach_multicast_source(b_, kTestGroup, kA), 0);
  EXPECT_EQ(device().attach_multicast_source(b_, kTestGroup, kB), 0);
  stall();
  EXPECT_EQ(device().attach_multicast_source(a_, kTestGroup, kB), -ETIMEDOUT);
  EXPECT_EQ(device().detach_multicast_source(a_, kTestGroup, kA), -ETIMEDOUT);
  EXPECT_EQ(device().detach_multicast_source(b_, kTestGroup, kB), -ETIMEDOUT);
  resume();
  EXPECT_EQ(device().detach_multicast_source(a_, kTestGroup, kB), -EADDRNOTAVAIL);
  EXPECT_EQ(device().detach_multicast_source(a_, kTestGroup, kA), 0);
  EXPECT_EQ(device().detach_multicast_source(b_, kTestGroup, kB), 0);
  EXPECT_EQ(device().detach_multicast_source(b_, kTestGroup, kA), 0);
  EXPECT_TRUE(group_macs().empty());
}

// The network was asked already: it is told to stop when the worker goes on.
TEST_F(StalledMulticast, AnAttachThatTimedOutBehindItsJoinIsLeftAgain) {
  bed_.on_clock = [this] {
    if (reports().empty()) return bed_.work();
    bed_.pass(std::chrono::milliseconds(100));
  };
  EXPECT_EQ(attach(a_, kTestGroup), -ETIMEDOUT);
  EXPECT_EQ(reports(), std::vector{kToExclude});
  resume();
  ASSERT_FALSE(reports().empty());
  EXPECT_EQ(reports().back(), kToInclude);
  EXPECT_TRUE(group_macs().empty());
  EXPECT_EQ(detach(a_, kTestGroup), -EINVAL);
}

TEST_F(StalledMulticast, ALeaveThatTimedOutIsSaidWhenTheWorkerGoesOn) {
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  bed_.on_clock = [this, turns = 0]() mutable {
    if (turns++ < 2) return bed_.work();
    bed_.pass(std::chrono::milliseconds(100));
  };
  EXPECT_EQ(detach(a_, kTestGroup), 0);
  EXPECT_TRUE(group_macs().empty());
  EXPECT_EQ(reports(), std::vector{kToExclude});
  resume();
  EXPECT_EQ(reports().back(), kToInclude);
}

TEST_F(StalledMulticast, AMembershipThatShutDownCouldNotEndCanBeEndedLater) {
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  stall();
  EXPECT_EQ(device().shut_down(), -ETIMEDOUT);
  resume();
  EXPECT_TRUE(engine_has(a_));
  EXPECT_EQ(detach(a_, kTestGroup), 0);
}

class LimitedMulticast : public Multicast {
 protected:
  LimitedMulticast() : Multicast(TestBedOptions{.limits = {.group_max = 1, .group_qp_max = 1}}) {}
};

// MC-08.
TEST_F(LimitedMulticast, LimitsAreNoMemoryAndLeaveTheFilterAlone) {
  EXPECT_EQ(attach(a_, kTestGroup), 0);
  EXPECT_EQ(attach(b_, kTestGroup), -ENOMEM);
  EXPECT_EQ(attach(a_, kTestGroup6), -ENOMEM);
  EXPECT_EQ(bed_.port.log.size(), 1u);
  EXPECT_EQ(detach(a_, kTestGroup), 0);
}

}  // namespace
}  // namespace uroce::device
