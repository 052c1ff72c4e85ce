// SPDX-License-Identifier: BSD-3-Clause
// Tests of clients of devices, their data, and references that keep a device.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

// Notes what it is told.
struct Listener : ib_client {
  Listener() : ib_client{} {
    name = "listener";
    add = [](ib_device* device) {
      current->added.push_back(device);
      return current->refuses ? -ENODEV : 0;
    };
    remove = [](ib_device* device, void* data) {
      current->removed.push_back(device);
      current->last_data = data;
      current->data_while_removed = ib_get_client_data(device, current);
    };
    current = this;
  }
  static Listener* current;
  bool refuses = false;
  std::vector<ib_device*> added;
  std::vector<ib_device*> removed;
  void* last_data = nullptr;
  void* data_while_removed = nullptr;
};
Listener* Listener::current = nullptr;

class ClientsTest : public testing::Test {
 protected:
  ClientsTest() {
    for (size_t i = 0; i < 2; ++i) {
      devices_[i] = open_device(beds_[i].device());
      EXPECT_EQ(beds_[i].device().start(), 0);
    }
  }
  ~ClientsTest() override {
    for (ib_device* device : devices_) {
      if (device != nullptr) close_device(device);
    }
  }
  void close(size_t index) {
    close_device(devices_[index]);
    devices_[index] = nullptr;
  }

  device::TestBed beds_[2];
  ib_device* devices_[2] = {};
};

TEST_F(ClientsTest, AreToldOfDevicesThatAreThereAndThatCome) {
  Listener listener;
  announce_device(devices_[0]);
  EXPECT_EQ(ib_register_client(&listener), 0);
  EXPECT_EQ(ib_register_client(&listener), -EALREADY);
  EXPECT_EQ(listener.added, std::vector{devices_[0]});
  announce_device(devices_[1]);
  EXPECT_EQ(listener.added, (std::vector{devices_[0], devices_[1]}));
  withdraw_device(devices_[0]);
  EXPECT_EQ(listener.removed, std::vector{devices_[0]});
  ib_device* const second = devices_[1];
  close(1);
  EXPECT_EQ(listener.removed, (std::vector{devices_[0], second})) << "closing withdraws";
  ib_unregister_client(&listener);
  ib_unregister_client(&listener);
  EXPECT_EQ(listener.removed.size(), 2u);
}

TEST_F(ClientsTest, ThatDoNotWantADeviceDoNotHearOfItsEnd) {
  Listener listener;
  listener.refuses = true;
  EXPECT_EQ(ib_register_client(&listener), 0);
  announce_device(devices_[0]);
  EXPECT_EQ(listener.added.size(), 1u);
  ib_set_client_data(devices_[0], &listener, this);
  EXPECT_EQ(ib_get_client_data(devices_[0], &listener), nullptr);
  ib_unregister_client(&listener);
  EXPECT_TRUE(listener.removed.empty());
}

// CL-01, CL-02, CL-03.
TEST_F(ClientsTest, EachHasItsOwnWordAtEachDevice) {
  ib_client first{};
  ib_client second{};
  ASSERT_EQ(ib_register_client(&first), 0);
  ASSERT_EQ(ib_register_client(&second), 0);
  int words[4] = {};
  for (ib_device* device : devices_) announce_device(device);
  EXPECT_EQ(ib_get_client_data(devices_[0], &first), nullptr);
  ib_set_client_data(devices_[0], &first, &words[0]);
  ib_set_client_data(devices_[0], &second, &words[1]);
  ib_set_client_data(devices_[1], &first, &words[2]);
  ib_set_client_data(devices_[1], &second, &words[3]);
  EXPECT_EQ(ib_get_client_data(devices_[0], &first), &words[0]);
  EXPECT_EQ(ib_get_client_data(devices_[0], &second), &words[1]);
  EXPECT_EQ(ib_get_client_data(devices_[1], &first), &words[2]);
  EXPECT_EQ(ib_get_client_data(devices_[1], &second), &words[3]);
  ib_unregister_client(&second);
  ib_unregister_client(&first);
}

// CL-04.
TEST_F(ClientsTest, DataIsThereUntilRemoveHasReturned) {
  Listener listener;
  int word = 0;
  announce_device(devices_[0]);
  ASSERT_EQ(ib_register_client(&listener), 0);
  ib_set_client_data(devices_[0], &listener, &word);
  withdraw_device(devices_[0]);
  EXPECT_EQ(listener.last_data, &word);
  EXPECT_EQ(listener.data_while_removed, &word);
  EXPECT_EQ(ib_get_client_data(devices_[0], &listener), nullptr);
  ib_unregister_client(&listener);
}

// DV-01, DV-02.
TEST_F(ClientsTest, OnlyADeviceThatIsThereCanBeHeld) {
  EXPECT_FALSE(ib_device_try_get(devices_[0]));
  announce_device(devices_[0]);
  EXPECT_TRUE(ib_device_try_get(devices_[0]));
  ib_device_put(devices_[0]);
  withdraw_device(devices_[0]);
  EXPECT_FALSE(ib_device_try_get(devices_[0]));
}

// DV-03.
TEST_F(ClientsTest, WithdrawalWaitsForTheLastReference) {
  announce_device(devices_[0]);
  ASSERT_TRUE(ib_device_try_get(devices_[0]));
  ASSERT_TRUE(ib_device_try_get(devices_[0]));
  std::atomic<bool> gone{false};
  std::thread closer([&] {
    withdraw_device(devices_[0]);
    gone.store(true);
  });
  while (ib_device_try_get(devices_[0])) ib_device_put(devices_[0]);  // until it is going
  ib_device_put(devices_[0]);
  std::this_thread::yield();
  EXPECT_FALSE(gone.load()) << "one is still out";
  ib_device_put(devices_[0]);
  closer.join();
  EXPECT_TRUE(gone.load());
}

}  // namespace
}  // namespace uroce::verbs
