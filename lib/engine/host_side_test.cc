// SPDX-License-Identifier: BSD-3-Clause
// The control protocols through the engine's face: what a neighbour sees of an own port.
#include "engine/host_side.h"

#include <gtest/gtest.h>

#include "engine/wire_fixture.h"
#include "wire/arp.h"

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

TEST_F(HostSideTest, AJoinIsReportedAndReportedAgain_Case61) {
  turn();
  TestWire wire({&device});
  GroupCommand join(Command::Kind::kJoinGroup);
  join.group = Gid::from_ipv4(0xEF010201);
  EXPECT_EQ(device.run(0, join), 0);
  GroupCommand join6(Command::Kind::kJoinGroup);
  join6.group.bytes = {0xff, 0x1e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2};
  EXPECT_EQ(device.run(0, join6), 0);
  wire.run(seconds(3));
  EXPECT_EQ(count_of(wire.seen, FrameKind::kIgmp), 2u);
  EXPECT_EQ(count_of(wire.seen, FrameKind::kMld), 2u);
  wire.seen.clear();
  GroupCommand leave(Command::Kind::kLeaveGroup);
  leave.group = join.group;
  EXPECT_EQ(device.run(0, leave), 0);
  wire.run(seconds(3));
  EXPECT_EQ(count_of(wire.seen, FrameKind::kIgmp), 2u);
  EXPECT_EQ(device.poll_timeout(), kNever);
}

TEST_F(HostSideTest, GroupCommandsNeedAGroup) {
  GroupCommand join(Command::Kind::kJoinGroup);
  join.group = device.ipv4;
  EXPECT_EQ(device.run(0, join), -EINVAL);
}

TEST_F(HostSideTest, TooManyAddressesAreRefusedAndNothingChanges) {
  std::vector<LocalAddress> many(17);
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
