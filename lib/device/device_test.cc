// SPDX-License-Identifier: BSD-3-Clause
// Tests of the device as a whole: coming up, link and address changes, going down.
#include "device/device.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "device/device_fixture.h"

namespace uroce::device {
namespace {

using transport::EventType;

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    bed_.device().set_event_sink(
        [](void* self, EventType type) { static_cast<DeviceTest*>(self)->seen_.push_back(type); },
        this);
  }
  TestBed bed_;
  std::vector<EventType> seen_;
};

TEST_F(DeviceTest, StartsWithThePathMtuAndAddressesOfThePort) {
  ASSERT_EQ(bed_.device().start(), 0);
  const PortState state = bed_.device().port_state();
  EXPECT_EQ(state.active_mtu, PathMtu::k4096);
  EXPECT_TRUE(state.info.link_up);
  Gid gid;
  EXPECT_EQ(bed_.device().query_gid(0, gid), 0);
  EXPECT_EQ(gid, link_local_gid(kTestMac));
  EXPECT_EQ(bed_.device().find_gid(kTestIpv4), 1);
  EXPECT_EQ(bed_.device().find_gid(kTestIpv6), 2);
  EXPECT_EQ(bed_.device().find_gid(kTestPeer), -ENOENT);
}

TEST_F(DeviceTest, RefusesAPortWhoseFramesAreTooSmall) {
  bed_.port.port.frame_bytes_max = 256 + 97;
  EXPECT_EQ(bed_.device().start(), -EINVAL);
}

TEST_F(DeviceTest, TellsOfALinkThatGoesAndComesOnceEach) {
  ASSERT_EQ(bed_.device().start(), 0);
  bed_.device().refresh_link();
  EXPECT_TRUE(seen_.empty());
  bed_.port.port.link_up = false;
  bed_.device().refresh_link();
  bed_.device().refresh_link();
  bed_.port.port.link_up = true;
  bed_.device().refresh_link();
  EXPECT_EQ(seen_, (std::vector{EventType::kPortErr, EventType::kPortActive}));
}

// What a switch has forgotten meanwhile is told again.
TEST_F(DeviceTest, ALinkThatWentAndCameBetweenTwoLooksIsBothAndAnnouncedAgain) {
  ASSERT_EQ(bed_.device().start(), 0);
  bed_.settle();
  const size_t announced = bed_.wire.size();
  EXPECT_GT(announced, 0u);
  bed_.wire.clear();
  bed_.port.port.link_changes += 2;
  bed_.device().refresh_link();
  bed_.device().refresh_link();
  EXPECT_EQ(seen_, (std::vector{EventType::kPortErr, EventType::kPortActive}));
  bed_.settle();
  EXPECT_EQ(bed_.wire.size(), announced);
}

TEST_F(DeviceTest, ALinkThatIsDownAgainIsToldOnce) {
  ASSERT_EQ(bed_.device().start(), 0);
  bed_.port.port.link_up = false;
  bed_.port.port.link_changes = 3;
  bed_.device().refresh_link();
  bed_.port.port.link_changes = 5;
  bed_.device().refresh_link();
  EXPECT_EQ(seen_, std::vector{EventType::kPortErr});
}

TEST_F(DeviceTest, FollowsTheFrameSizeOfThePort) {
  ASSERT_EQ(bed_.device().start(), 0);
  bed_.port.port.frame_bytes_max = 1514;
  bed_.device().refresh_link();
  EXPECT_EQ(bed_.device().port_state().active_mtu, PathMtu::k1024);
}

// Cases 73; GT-03.
TEST_F(DeviceTest, AnAddressThatChangesIsAnEventAndIndexesStay) {
  ASSERT_EQ(bed_.device().start(), 0);
  EXPECT_EQ(bed_.device().rescan_addresses(), 0);
  EXPECT_TRUE(seen_.empty());
  bed_.port.list.erase(bed_.port.list.begin());
  EXPECT_EQ(bed_.device().rescan_addresses(), 0);
  EXPECT_EQ(seen_, std::vector{EventType::kGidChange});
  Gid gid;
  EXPECT_EQ(bed_.device().query_gid(1, gid), -ENODATA);
  EXPECT_EQ(bed_.device().find_gid(kTestIpv6), 2);
}

TEST_F(DeviceTest, AnAddressThatAWorkerWasLateForIsToldAgain) {
  TestBed bed(TestBedOptions{.mode = engine::DriveMode::kWorker});
  bed.on_clock = [&bed] { bed.work(); };
  ASSERT_EQ(bed.device().start(), 0);
  bed.on_clock = [&bed] { bed.pass(std::chrono::milliseconds(100)); };
  bed.port.list.erase(bed.port.list.begin());
  EXPECT_EQ(bed.device().rescan_addresses(), -ETIMEDOUT);
  EXPECT_EQ(bed.device().rescan_addresses(), -ETIMEDOUT) << "still not told";
  bed.on_clock = [&bed] { bed.work(); };
  EXPECT_EQ(bed.device().rescan_addresses(), 0);
  bed.on_clock = [&bed] { bed.pass(std::chrono::milliseconds(100)); };
  EXPECT_EQ(bed.device().rescan_addresses(), 0) << "nothing is left to tell";
}

// All nodes and all systems; the solicited-node groups of fd00::1 and of the link-local address.
TEST_F(DeviceTest, TheFilterLetsThroughWhatItsAddressesNeed) {
  const MacAddress all_systems{{0x01, 0x00, 0x5e, 0, 0, 1}};
  const MacAddress all_nodes{{0x33, 0x33, 0, 0, 0, 1}};
  const MacAddress one{{0x33, 0x33, 0xff, 0, 0, 1}};  // of both
  const MacAddress five{{0x33, 0x33, 0xff, 0, 0, 5}};
  ASSERT_EQ(bed_.device().start(), 0);
  EXPECT_EQ(bed_.port.macs, (std::vector{all_systems, all_nodes, one}));
  bed_.port.list = {{kTestIpv6, 64}};
  bed_.port.list[0].address.bytes[15] = 5;
  EXPECT_EQ(bed_.device().rescan_addresses(), 0);
  EXPECT_EQ(bed_.port.macs, (std::vector{all_nodes, one, five}));
  EXPECT_EQ(bed_.device().shut_down(), 0);
  EXPECT_TRUE(bed_.port.macs.empty());
}

TEST_F(DeviceTest, APortWithoutAMulticastFilterStartsWithAWarningAndABrokenOneDoesNot) {
  static std::vector<std::string> lines;
  lines.clear();
  set_log_sink([](void*, LogLevel, std::string_view line) { lines.emplace_back(line); }, nullptr);
  bed_.port.filter_error = -EIO;
  EXPECT_EQ(bed_.device().start(), -EIO);
  bed_.port.filter_error = -ENOTSUP;
  EXPECT_EQ(bed_.device().start(), 0);
  set_log_sink(nullptr, nullptr);
  EXPECT_EQ(lines, std::vector<std::string>{"port paper: it lets no multicast frame through, so "
                                            "IPv6 neighbours cannot find its addresses"});
}

TEST_F(DeviceTest, ASharedPortLeavesTheFilterToTheKernel) {
  TestBed bed(TestBedOptions{.shared_port = true});
  ASSERT_EQ(bed.device().start(), 0);
  EXPECT_EQ(bed.device().shut_down(), 0);
  EXPECT_TRUE(bed.port.log.empty());
}

// 16 are the user's limit; the link-local one comes on top.
TEST_F(DeviceTest, SixteenAddressesAndTheLinkLocalOneFit) {
  bed_.port.list.clear();
  for (uint32_t i = 1; i <= 16; ++i) {
    bed_.port.list.push_back({Gid::from_ipv4(0x0A000000 + i), 24});
  }
  EXPECT_EQ(bed_.device().start(), 0);
}

TEST_F(DeviceTest, AHandlerOfAnEventMayMakeControlCalls) {
  ASSERT_EQ(bed_.device().start(), 0);
  bed_.device().set_event_sink(
      [](void* bed, EventType) {
        Pd* pd = nullptr;
        ASSERT_EQ(static_cast<TestBed*>(bed)->device().create_pd(pd), 0);
        ASSERT_EQ(static_cast<TestBed*>(bed)->device().destroy_pd(*pd), 0);
      },
      &bed_);
  bed_.port.port.link_up = false;
  bed_.device().refresh_link();
}

TEST_F(DeviceTest, GoingDownLeavesGroupsClosesTheFilterAndRefusesNewObjects) {
  Device& device = bed_.device();
  ASSERT_EQ(device.start(), 0);
  Pd* pd = nullptr;
  ASSERT_EQ(device.create_pd(pd), 0);
  CqHandle cq;
  QpHandle qp;
  ASSERT_EQ(device.create_cq(16, nullptr, cq), 0);
  ASSERT_EQ(device.create_qp(*pd,
                             {.type = transport::QpType::kUd,
                              .capabilities = {4, 4, 1, 1, 0},
                              .send_cq = cq.object,
                              .recv_cq = cq.object},
                             qp),
            0);
  const size_t for_addresses = bed_.port.macs.size();
  ASSERT_EQ(device.attach_multicast(qp, kTestGroup), 0);
  EXPECT_EQ(bed_.port.macs.size(), for_addresses + 1);
  EXPECT_EQ(device.shut_down(), 0);
  EXPECT_TRUE(bed_.port.macs.empty());
  Pd* other = nullptr;
  EXPECT_EQ(device.create_pd(other), -ENODEV);
  EXPECT_EQ(device.attach_multicast(qp, kTestGroup), -ENODEV);
  EXPECT_EQ(device.destroy_qp(qp), 0);
  EXPECT_EQ(device.destroy_cq(cq), 0);
  EXPECT_EQ(device.destroy_pd(*pd), 0);
}

// A program that goes without tidying up: the rings are seen to go here, and LeakSanitizer, under
// which these tests run as well, looks for the rest.
TEST(DeviceEnd, WhatIsLeftGoesWithTheDevice) {
  alignas(8) uint8_t memory[256] = {};
  std::weak_ptr<void> rings[2];
  {
    TestBed bed;
    Device& device = bed.device();
    ASSERT_EQ(device.start(), 0);
    Pd* pd = nullptr;
    ASSERT_EQ(device.create_pd(pd), 0);
    Mr* mr = nullptr;
    const auto start = reinterpret_cast<uint64_t>(memory);
    ASSERT_EQ(device.register_memory(*pd, start, sizeof memory, start, memory::kLocalWrite, mr), 0);
    AhAttributes to;
    to.dgid = kTestGroup;
    to.sgid_index = 1;
    to.global = true;
    Ah* ah = nullptr;
    ASSERT_EQ(device.create_ah(*pd, to, false, ah), 0);
    CqHandle cq;
    QpHandle qp;
    ASSERT_EQ(device.create_cq(16, nullptr, cq), 0);
    ASSERT_EQ(device.create_qp(*pd,
                               {.type = transport::QpType::kUd,
                                .capabilities = {4, 4, 1, 1, 0},
                                .send_cq = cq.object,
                                .recv_cq = cq.object},
                               qp),
              0);
    ASSERT_EQ(device.attach_multicast(qp, kTestGroup), 0);
    rings[0] = cq.object->memory;
    rings[1] = qp.object->memory;
    EXPECT_EQ(device.shut_down(), 0);
  }
  for (const auto& ring : rings) EXPECT_TRUE(ring.expired());
}

}  // namespace
}  // namespace uroce::device
