// SPDX-License-Identifier: BSD-3-Clause
// The control protocols through the engine's face: what a neighbour sees of an own port.
#include "engine/host_side.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "engine/wire_fixture.h"
#include "wire/arp.h"
#include "wire/mld.h"
#include "wire/nd.h"

namespace uroce::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::FrameKind;

FrameKind kind_of(const Bytes& frame) {
  wire::L3Info info;
  return wire::classify(frame, {}, info);
}

size_t count_of(const std::vector<Bytes>& frames, FrameKind kind) {
  return static_cast<size_t>(std::count_if(
      frames.begin(), frames.end(), [kind](const Bytes& frame) { return kind_of(frame) == kind; }));
}

Bytes arp_request(uint32_t from, uint32_t target) {
  Bytes frame(128);
  wire::EthernetFields ethernet;
  ethernet.source = {{2, 0, 0, 0, 0, 9}};
  ethernet.destination = wire::kBroadcastMac;
  wire::ArpMessage message;
  message.sender_mac = ethernet.source;
  message.sender_ip = from;
  message.target_ip = target;
  frame.resize(wire::build_arp(frame, ethernet, message));
  return frame;
}

class HostSideTest : public ::testing::Test {
 protected:
  std::vector<Bytes> turn() {
    device.outbox.clear();
    device.turn();
    return device.outbox;
  }
  TestDevice device{{.number = 1}};
};

TEST_F(HostSideTest, NewAddressesAreAnnouncedAndAgainAfterLinkUp) {
  std::vector<Bytes> sent = turn();
  EXPECT_EQ(count_of(sent, FrameKind::kArp), 1u);
  EXPECT_EQ(count_of(sent, FrameKind::kNd), 1u);
  EXPECT_TRUE(turn().empty());
  LinkUpCommand up;
  EXPECT_EQ(device.run(0, up), 0);
  sent = turn();
  EXPECT_EQ(count_of(sent, FrameKind::kArp), 1u);
  EXPECT_EQ(count_of(sent, FrameKind::kNd), 1u);
}

TEST_F(HostSideTest, ArpIsAnsweredForOurAddressOnly) {
  turn();
  device.receive(arp_request(0x0A000009, 0x0A000001));
  const std::vector<Bytes> sent = turn();
  ASSERT_EQ(sent.size(), 1u);
  wire::L3Info info;
  ASSERT_EQ(wire::classify(sent[0], {}, info), FrameKind::kArp);
  wire::ArpMessage reply;
  ASSERT_EQ(wire::parse_arp(sent[0], info, reply), wire::Drop::kNone);
  EXPECT_EQ(reply.operation, wire::ArpMessage::kReply);
  EXPECT_EQ(reply.sender_mac, device.mac);
  device.receive(arp_request(0x0A000009, 0x0A000007));
  EXPECT_TRUE(turn().empty());
}

// The command is done when the answer has come, not before, however many ask.
TEST_F(HostSideTest, ResolvingWaitsForTheNeighbour) {
  TestDevice other({.number = 2});
  TestWire wire({&device, &other});
  ResolveCommand first;
  ResolveCommand second;
  first.destination = other.ipv4;
  second.destination = other.ipv6;
  EXPECT_EQ(device.run(0, first), -EINPROGRESS);
  EXPECT_EQ(device.run(0, second), -EINPROGRESS);
  wire.settle();
  ASSERT_TRUE(first.done && second.done);
  EXPECT_EQ(first.result, 0);
  EXPECT_EQ(first.mac, other.mac);
  EXPECT_EQ(second.result, 0);
  EXPECT_EQ(second.mac, other.mac);
}

TEST_F(HostSideTest, ANeighbourThatIsNotThereTimesOutWithinSomeSeconds_Case59) {
  TestDevice other({.number = 2});
  TestWire wire({&device, &other});
  ResolveCommand command;
  command.destination = Gid::from_ipv4(0x0A000042);
  EXPECT_EQ(device.run(0, command), -EINPROGRESS);
  wire.run(milliseconds(2500));
  EXPECT_FALSE(command.done);
  wire.run(milliseconds(1000));
  ASSERT_TRUE(command.done);
  EXPECT_EQ(command.result, -ETIMEDOUT);
}

TEST_F(HostSideTest, OwnAddressesGroupsAndUnreachableOnesAreKnownAtOnce_Case59) {
  ResolveCommand own;
  own.destination = device.ipv4;
  EXPECT_EQ(device.run(0, own), 0);
  EXPECT_EQ(own.mac, device.mac);
  ResolveCommand group;
  group.destination = Gid::from_ipv4(0xEF010201);
  EXPECT_EQ(device.run(0, group), 0);
  EXPECT_EQ(group.mac, group_mac(group.destination));
  ResolveCommand far;
  far.destination = Gid::from_ipv4(0x08080808);
  EXPECT_EQ(device.run(0, far), -EHOSTUNREACH);
}

// case 77: the same address on two links is two hosts; each port asks on its own link only.
TEST_F(HostSideTest, ALinkLocalAddressIsThatOfThePortsOwnLink_Case77) {
  const Gid peer{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  TestDevice second({.number = 5});
  TestDevice on_first({.number = 2});
  TestDevice on_second({.number = 3});
  for (TestDevice* host : {&on_first, &on_second}) {
    const LocalAddress same[] = {{peer, 64}};
    SetAddressesCommand command;
    command.addresses = same;
    ASSERT_EQ(host->run(0, command), 0);
  }
  TestWire first_link({&device, &on_first});
  TestWire second_link({&second, &on_second});
  first_link.run(seconds(3));
  second_link.run(seconds(3));
  second_link.seen.clear();
  ResolveCommand ask;
  ask.destination = peer;
  EXPECT_EQ(device.run(0, ask), -EINPROGRESS);
  first_link.settle();
  second_link.settle();
  ASSERT_TRUE(ask.done);
  EXPECT_EQ(ask.mac, on_first.mac);
  EXPECT_TRUE(second_link.seen.empty());
  ResolveCommand ask_there;
  ask_there.destination = peer;
  EXPECT_EQ(second.run(0, ask_there), -EINPROGRESS) << "what the other port knows is of no use";
  second_link.settle();
  ASSERT_TRUE(ask_there.done);
  EXPECT_EQ(ask_there.mac, on_second.mac);
}

TEST_F(HostSideTest, AJoinIsReportedAndReportedAgain_Case61) {
  TestWire wire({&device});
  wire.run(seconds(3));
  wire.seen.clear();
  GroupFilterCommand join;
  join.mode = FilterMode::kExclude;
  join.group = Gid::from_ipv4(0xEF010201);
  EXPECT_EQ(device.run(0, join), 0);
  GroupFilterCommand join6;
  join6.mode = FilterMode::kExclude;
  join6.group.bytes = {0xff, 0x1e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2};
  EXPECT_EQ(device.run(0, join6), 0);
  wire.run(seconds(3));
  EXPECT_EQ(count_of(wire.seen, FrameKind::kIgmp), 2u);
  EXPECT_EQ(count_of(wire.seen, FrameKind::kMld), 2u);
  wire.seen.clear();
  GroupFilterCommand leave;
  leave.group = join.group;
  EXPECT_EQ(device.run(0, leave), 0);
  wire.run(seconds(3));
  EXPECT_EQ(count_of(wire.seen, FrameKind::kIgmp), 2u);
  EXPECT_EQ(device.poll_timeout(), kNever);
}

TEST(HostSideVersions, EachListenerProtocolHasItsOwn) {
  EngineConfig config;
  config.igmp_version = 2;
  config.mld_version = 0;
  transport::DropCounters drops;
  HostSide host(config, drops);
  ASSERT_TRUE(host.set_filter(Time{}, Gid::from_ipv4(0xEF010201), kEverySource));
  Gid group6;
  group6.bytes = {0xff, 0x1e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2};
  ASSERT_TRUE(host.set_filter(Time{}, group6, kEverySource));
  Bytes room(2048);
  TxSlot slot;
  slot.room = room.data();
  slot.capacity = static_cast<uint32_t>(room.size());
  ASSERT_TRUE(host.poll_frame(Time{}, slot));
  wire::L3Info info;
  ASSERT_EQ(wire::classify({room.data(), slot.length}, {}, info), FrameKind::kIgmp);
  EXPECT_EQ(room[info.l4_offset], 0x16) << "a report of version 2";
  EXPECT_FALSE(host.poll_frame(Time{}, slot)) << "MLD is silent";
}

// RFC 4861 7.2.1, RFC 3810 6: what a switch that snoops must know, or no neighbour finds us.
class SolicitedNode : public HostSideTest {
 protected:
  using RecordType = wire::RecordType;
  using Records = std::set<std::pair<Gid, RecordType>>;

  SolicitedNode() { wire.run(seconds(3)); }

  int set(std::vector<LocalAddress> addresses) {
    SetAddressesCommand command;
    command.addresses = addresses;
    return device.run(0, command);
  }
  int members_listen(const Gid& group, bool listen) {
    GroupFilterCommand command;
    command.group = group;
    if (listen) command.mode = FilterMode::kExclude;
    return device.run(0, command);
  }
  // What is reported within 3 s: group and record type, each once however often it is repeated.
  Records reported(const Gid& from) {
    wire.run(seconds(3));
    Records records;
    for (const Bytes& frame : wire.seen) {
      wire::L3Info info;
      if (wire::classify(frame, {}, info) != FrameKind::kMld) continue;
      wire::MembershipMessage message;
      EXPECT_EQ(wire::parse_mld(frame, info, {}, message), wire::Drop::kNone);
      EXPECT_EQ(message.source, from);
      wire::GroupRecord record;
      while (wire::next_record(message.records, true, record)) {
        records.emplace(record.group, record.type);
      }
    }
    wire.seen.clear();
    return records;
  }
  // fd00::<a>:<b>
  static LocalAddress ipv6(uint8_t a, uint8_t b) {
    LocalAddress local{Gid{{0xfd}}, 64};
    local.address.bytes[13] = a;
    local.address.bytes[15] = b;
    return local;
  }
  // ff02::1:ff<a>:<b>
  static Gid group_of(uint8_t a, uint8_t b) {
    return Gid{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, 0, b}};
  }
  static constexpr auto kJoin = RecordType::kChangeToExclude;
  static constexpr auto kLeave = RecordType::kChangeToInclude;
  // Not the one of the MAC address, whose group is that of fd00::1.
  const LocalAddress kLinkLocal{Gid{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8}}, 64};
  const Gid kLinkLocalGroup = wire::solicited_node(kLinkLocal.address);
  TestWire wire{{&device}};
};

TEST_F(SolicitedNode, GroupsOfTheFirstAddressesAreReportedWithoutASource) {
  EXPECT_EQ(reported({}), (Records{{group_of(0, 1), kJoin}}));
}

TEST_F(SolicitedNode, GroupsFollowTheAddressesAndReportsComeFromTheLinkLocalOne) {
  wire.seen.clear();
  ASSERT_EQ(set({kLinkLocal, ipv6(5, 6), ipv6(5, 6), {device.ipv4, 24}}), 0);
  EXPECT_EQ(reported(kLinkLocal.address),
            (Records{{group_of(0, 1), kLeave}, {group_of(5, 6), kJoin}, {kLinkLocalGroup, kJoin}}));
  ASSERT_EQ(set({kLinkLocal, ipv6(5, 6)}), 0);
  EXPECT_TRUE(reported(kLinkLocal.address).empty()) << "nothing has changed";
  LinkUpCommand up;
  EXPECT_EQ(device.run(0, up), 0);
  EXPECT_EQ(reported(kLinkLocal.address),
            (Records{{group_of(5, 6), kJoin}, {kLinkLocalGroup, kJoin}}));
  ASSERT_EQ(set({}), 0);
  EXPECT_EQ(reported(kLinkLocal.address),
            (Records{{group_of(5, 6), kLeave}, {kLinkLocalGroup, kLeave}}));
  EXPECT_EQ(device.poll_timeout(), kNever);
}

TEST_F(SolicitedNode, QueuePairsInTheSameGroupComeAndGoUnseen) {
  const Gid group = group_of(0, 1);
  wire.seen.clear();
  EXPECT_EQ(members_listen(group, true), 0);
  EXPECT_EQ(members_listen(group, false), 0);
  EXPECT_TRUE(reported({}).empty());
  EXPECT_EQ(members_listen(group, true), 0);
  ASSERT_EQ(set({}), 0);
  EXPECT_TRUE(reported({}).empty()) << "a queue pair still listens";
  ASSERT_EQ(set({ipv6(0, 1)}), 0);
  EXPECT_EQ(members_listen(group, false), 0);
  EXPECT_TRUE(reported({}).empty()) << "the address still listens";
  ASSERT_EQ(set({}), 0);
  EXPECT_EQ(reported({}), (Records{{group, kLeave}}));
}

TEST_F(SolicitedNode, TheLinkLocalAddressThatReportsComeFromIsAnswered) {
  TestDevice other({.number = 2});
  TestWire both({&device, &other});
  ASSERT_EQ(set({kLinkLocal}), 0);
  ResolveCommand ask;
  ask.destination = kLinkLocal.address;
  EXPECT_EQ(other.run(0, ask), -EINPROGRESS);
  both.settle();
  ASSERT_TRUE(ask.done);
  EXPECT_EQ(ask.result, 0);
  EXPECT_EQ(ask.mac, device.mac);
}

TEST_F(HostSideTest, GroupCommandsNeedAGroup) {
  GroupFilterCommand join;
  join.mode = FilterMode::kExclude;
  join.group = device.ipv4;
  EXPECT_EQ(device.run(0, join), -EINVAL);
}

TEST_F(HostSideTest, TooManyAddressesAreRefusedAndNothingChanges) {
  std::vector<LocalAddress> many(neigh::NextHop::kAddressesMax + 1);
  for (size_t i = 0; i < many.size(); ++i) {
    many[i] = {Gid::from_ipv4(0x0B000001 + static_cast<uint32_t>(i)), 24};
  }
  SetAddressesCommand command;
  command.addresses = many;
  EXPECT_EQ(device.run(0, command), -EINVAL);
  turn();
  device.receive(arp_request(0x0A000009, 0x0A000001));
  EXPECT_EQ(turn().size(), 1u) << "the old address still answers";
}

TEST(HostSideOfSharedPort, TheKernelDoesIt) {
  TestDevice device({.own_port = false});
  EXPECT_EQ(device.turn(), 0u);
  EXPECT_TRUE(device.outbox.empty());
  ResolveCommand command;
  command.destination = Gid::from_ipv4(0x0A000002);
  EXPECT_EQ(device.run(0, command), -EOPNOTSUPP);
  LinkUpCommand up;
  EXPECT_EQ(device.run(0, up), 0);
}

}  // namespace
}  // namespace uroce::engine
