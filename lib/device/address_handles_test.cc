// SPDX-License-Identifier: BSD-3-Clause
// Tests of address handles: what is asked of whom, what an error leaves behind.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "device/device_fixture.h"

namespace uroce::device {
namespace {

class AddressHandles : public testing::TestWithParam<bool> {
 protected:
  AddressHandles() : bed_(TestBedOptions{.shared_port = GetParam()}) {
    EXPECT_EQ(device().start(), 0);
    bed_.port.log.clear();
    EXPECT_EQ(device().create_pd(pd_), 0);
  }
  ~AddressHandles() override { EXPECT_EQ(device().destroy_pd(*pd_), 0); }
  Device& device() { return bed_.device(); }
  transport::AddressVector vector(const Ah& ah) {
    transport::AddressVector copy;
    ah.vector.load(copy);
    return copy;
  }
  TestBed bed_;
  Pd* pd_ = nullptr;
};

// AH-04, AH-10, AH-24; cases 59: at once, and nobody is asked.
TEST_P(AddressHandles, GroupsAndOwnAddressesSucceedAtOnce) {
  const Time before = bed_.clock();
  for (const auto& [dgid, route] :
       {std::pair{kTestGroup, Route::kBoth}, std::pair{kTestIpv4, Route::kLocal}}) {
    Ah* ah = nullptr;
    ASSERT_EQ(device().create_ah(*pd_, path_to(dgid, 1), true, ah), 0);
    EXPECT_EQ(pd_->use_count, 1u);
    EXPECT_EQ(vector(*ah).route, route);
    EXPECT_EQ(device().destroy_ah(*ah), 0);
    EXPECT_EQ(pd_->use_count, 0u);
  }
  EXPECT_EQ(bed_.clock(), before);
  EXPECT_TRUE(bed_.wire.empty());
  EXPECT_TRUE(bed_.port.log.empty());
}

// AH-14; cases 59: ETIMEDOUT within 3 s.
TEST_P(AddressHandles, AnUnknownNeighbourIsAnErrorInTime) {
  bed_.port.resolve_error = -ETIMEDOUT;
  const Time before = bed_.clock();
  Ah* ah = nullptr;
  EXPECT_EQ(device().create_ah(*pd_, path_to(kTestPeer, 1), true, ah), -ETIMEDOUT);
  EXPECT_LE(bed_.clock() - before, std::chrono::milliseconds(3'051));
  EXPECT_GE(bed_.clock() - before, std::chrono::milliseconds(900));
  EXPECT_EQ(pd_->use_count, 0u);
}

TEST_P(AddressHandles, AnErrorLetsGoOfTheSourceAddress) {
  bed_.port.resolve_error = -ETIMEDOUT;
  Ah* ah = nullptr;
  EXPECT_EQ(device().create_ah(*pd_, path_to(kTestPeer, 1), true, ah), -ETIMEDOUT);
  bed_.port.list[0].address = Gid::from_ipv4(0x0A000009);
  EXPECT_EQ(device().rescan_addresses(), 0);
  EXPECT_EQ(device().find_gid(bed_.port.list[0].address), 1);
}

// AH-06.
TEST_P(AddressHandles, AHandleKeepsItsSourceAddressFromBeingReplaced) {
  Ah* ah = nullptr;
  ASSERT_EQ(device().create_ah(*pd_, path_to(kTestGroup, 1), true, ah), 0);
  bed_.port.list[0].address = Gid::from_ipv4(0x0A000009);
  EXPECT_EQ(device().rescan_addresses(), 0);
  EXPECT_EQ(device().find_gid(bed_.port.list[0].address), 3);
  EXPECT_EQ(vector(*ah).sgid, kTestIpv4);
  EXPECT_EQ(device().destroy_ah(*ah), 0);
}

// AH-20 … AH-23.
TEST_P(AddressHandles, AChangeIsWholeOrNotAtAll) {
  const MacAddress mac{{2, 0, 0, 0, 0, 7}};
  AhAttributes first = path_to(kTestPeer, 1);
  first.dmac = mac;
  first.traffic_class = 106;
  first.sl = 3;
  Ah* ah = nullptr;
  ASSERT_EQ(device().create_ah(*pd_, first, false, ah), 0);
  const AhAttributes seen = device().query_ah(*ah);
  EXPECT_EQ(seen.dgid, kTestPeer);
  EXPECT_EQ(seen.dmac, mac);
  EXPECT_EQ(seen.traffic_class, 106);
  EXPECT_EQ(seen.sl, 3);

  EXPECT_EQ(device().modify_ah(*ah, path_to(kTestPeer, 200)), -EINVAL);
  EXPECT_EQ(vector(*ah).dgid, kTestPeer);
  ASSERT_EQ(device().modify_ah(*ah, path_to(kTestGroup, 1)), 0);
  EXPECT_TRUE(vector(*ah).multicast);
  EXPECT_EQ(device().query_ah(*ah).dgid, kTestGroup);
  EXPECT_EQ(device().destroy_ah(*ah), 0);
}

TEST_P(AddressHandles, TheLimitIsAnError) {
  std::vector<Ah*> all;
  TestBed bed(TestBedOptions{.limits = {.ah_max = 2}});
  ASSERT_EQ(bed.device().start(), 0);
  Pd* pd = nullptr;
  ASSERT_EQ(bed.device().create_pd(pd), 0);
  for (int i = 0; i < 2; ++i) {
    Ah* ah = nullptr;
    ASSERT_EQ(bed.device().create_ah(*pd, path_to(kTestGroup, 1), true, ah), 0);
    all.push_back(ah);
  }
  Ah* none = nullptr;
  EXPECT_EQ(bed.device().create_ah(*pd, path_to(kTestGroup, 1), true, none), -ENOMEM);
  for (Ah* ah : all) EXPECT_EQ(bed.device().destroy_ah(*ah), 0);
  EXPECT_EQ(bed.device().destroy_pd(*pd), 0);
}

INSTANTIATE_TEST_SUITE_P(OwnAndShared, AddressHandles, testing::Bool(),
                         [](const auto& which) { return which.param ? "Shared" : "Own"; });

TEST(SharedPort, TheKernelIsAskedForTheNextHop) {
  TestBed bed(TestBedOptions{.shared_port = true});
  ASSERT_EQ(bed.device().start(), 0);
  Pd* pd = nullptr;
  ASSERT_EQ(bed.device().create_pd(pd), 0);
  const AhAttributes attributes = path_to(kTestPeer, 1);
  Ah* ah = nullptr;
  ASSERT_EQ(bed.device().create_ah(*pd, attributes, false, ah), 0);
  EXPECT_EQ(bed.port.log, std::vector<std::string>{"resolve"});
  EXPECT_EQ(device::AhAttributes(bed.device().query_ah(*ah)).dmac, bed.port.answer);
  bed.port.resolve_error = -EHOSTUNREACH;
  Ah* none = nullptr;
  EXPECT_EQ(bed.device().create_ah(*pd, attributes, false, none), -EHOSTUNREACH);
  EXPECT_EQ(bed.device().destroy_ah(*ah), 0);
  EXPECT_EQ(bed.device().destroy_pd(*pd), 0);
}

// While one thread waits for the kernel's answer, another one's control calls go through: they are
// made when the first thread is seen to wait, and simulated time says how long they took.
TEST(SharedPort, OtherControlCallsGoOnWhileANeighbourIsAskedForInWorkerMode) {
  TestBed bed(TestBedOptions{.mode = engine::DriveMode::kWorker, .shared_port = true});
  Device& device = bed.device();
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    while (!stop) {
      bed.work();
      std::this_thread::yield();
    }
  });
  ASSERT_EQ(device.start(), 0);
  Pd* pd = nullptr;
  ASSERT_EQ(device.create_pd(pd), 0);
  stop = true;  // from here on time passes by waiting for the kernel only
  worker.join();

  std::thread other;
  Time began = kNever;
  Time done = kNever;
  bed.port.resolve_error = -ETIMEDOUT;
  bed.port.on_resolve = [&](Duration limit) {
    if (began == kNever) {
      began = bed.clock();
      other = std::thread([&] {
        EXPECT_TRUE(device.port_state().info.link_up);
        Ah* group = nullptr;
        EXPECT_EQ(device.create_ah(*pd, path_to(kTestGroup, 1), true, group), 0);
        EXPECT_EQ(device.destroy_ah(*group), 0);
        done = bed.clock();
      });
    }
    bed.pass(limit);
  };
  bed.on_clock = [&] {
    if (other.joinable()) other.join();
  };
  Ah* ah = nullptr;
  const Time before = bed.clock();
  EXPECT_EQ(device.create_ah(*pd, path_to(kTestPeer, 1), true, ah), -ETIMEDOUT);
  EXPECT_GE(bed.clock() - before, std::chrono::seconds(3));
  if (other.joinable()) other.join();
  EXPECT_LE(done - began, std::chrono::milliseconds(10));
}

}  // namespace
}  // namespace uroce::device
