// SPDX-License-Identifier: BSD-3-Clause
// Tests of listing devices.
#include <gtest/gtest.h>

#include <cstring>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

TEST_F(DevicesTest, AreListedInOrderWithNothingStarted) {
  EXPECT_EQ(devices_[2], nullptr);
  EXPECT_STREQ(ibv_get_device_name(devices_[0]), "uroce0");
  EXPECT_STREQ(ibv_get_device_name(devices_[1]), "uroce1");
  EXPECT_EQ(ibv_get_device_index(devices_[1]), 1);
  EXPECT_EQ(devices_[1]->node_type, IBV_NODE_CA);
  EXPECT_EQ(devices_[1]->transport_type, IBV_TRANSPORT_IB);
  EXPECT_STREQ(devices_[1]->dev_name, "uverbs1");
  EXPECT_STREQ(devices_[1]->ibdev_path, "/sys/class/infiniband/uroce1");
  EXPECT_EQ(runtime_.running(0), nullptr);
  EXPECT_EQ(runtime_.running(1), nullptr);
}

TEST_F(DevicesTest, HaveTheGuidOfTheirMacAddress) {
  const uint8_t guid[8] = {0x00, 0, 0, 0xff, 0xfe, 0, 0, 0x01};  // of 02:00:00:00:00:01
  const __be64 answer = ibv_get_device_guid(devices_[0]);
  EXPECT_EQ(std::memcmp(&answer, guid, sizeof guid), 0);
}

TEST_F(DevicesTest, StayWhenTheirListIsFreed) {
  ibv_device* const first = devices_[0];
  ibv_free_device_list(devices_);
  EXPECT_STREQ(first->name, "uroce0");
  devices_ = ibv_get_device_list(nullptr);
  ASSERT_NE(devices_, nullptr);
  EXPECT_EQ(devices_[0], first);
}

// Libraries of other hardware look at the word behind the public structure to see whose it is.
TEST_F(DevicesTest, ShowAProviderThatIsNobodys) {
  const void* provider = nullptr;
  std::memcpy(&provider, reinterpret_cast<const char*>(devices_[0]) + sizeof(ibv_device),
              sizeof provider);
  EXPECT_NE(provider, nullptr);
}

TEST_F(DevicesTest, CannotBeListedWhenTheConfigurationIsWrong) {
  runtime_.error = -EINVAL;
  int count = 7;
  errno = 0;
  EXPECT_EQ(ibv_get_device_list(&count), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(count, 0);
}

TEST(AConfigurationWithoutDevices, GivesAnEmptyList) {
  BedRuntime none(0, {});
  int count = 7;
  ibv_device** const list = ibv_get_device_list(&count);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(list[0], nullptr);
  ibv_free_device_list(list);
}

}  // namespace
}  // namespace uroce::ibverbs
