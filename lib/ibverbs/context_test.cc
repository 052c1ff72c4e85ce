// SPDX-License-Identifier: BSD-3-Clause
// Tests of opening and closing devices.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

TEST_F(FaceTest, OpensADeviceWithoutStartingIt) {
  EXPECT_EQ(context_->device, devices_[0]);
  EXPECT_EQ(context_->num_comp_vectors, 1);
  EXPECT_EQ(runtime_.running(0), nullptr);
}

TEST_F(FaceTest, OpensADeviceMoreThanOnce) {
  ibv_context* const again = ibv_open_device(devices_[0]);
  ASSERT_NE(again, nullptr);
  EXPECT_NE(again, context_);
  EXPECT_EQ(ibv_close_device(again), 0);
}

TEST_F(FaceTest, HasACommandDescriptorUntilItIsClosed) {
  ibv_context* const other = ibv_open_device(devices_[1]);
  ASSERT_NE(other, nullptr);
  const int descriptor = other->cmd_fd;
  EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(ibv_close_device(other), 0);
  EXPECT_EQ(fcntl(descriptor, F_GETFD), -1);
}

TEST_F(FaceTest, HasADescriptorForEventsThatMayBePolled) {
  pollfd descriptor{.fd = context_->async_fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&descriptor, 1, 0), 0);
  dispatch_port_event(0, transport::EventType::kPortErr);
  EXPECT_EQ(poll(&descriptor, 1, 0), 1);
  ibv_async_event event{};
  EXPECT_EQ(ibv_get_async_event(context_, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ERR);
  ibv_ack_async_event(&event);
}

// Programs that end in a hurry close the device and leave the rest.
TEST_F(FaceTest, StaysForTheEventsOfObjectsThatAreLeftWhenItIsClosed) {
  ibv_context* const other = ibv_open_device(devices_[0]);
  ibv_cq* const cq = ibv_create_cq(other, 8, nullptr, nullptr, 0);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(ibv_close_device(other), 0);
  dispatch_event({.type = transport::EventType::kCqErr, .object = &of(cq)});
  EXPECT_EQ(ibv_destroy_cq(cq), 0) << "with the event that nobody took";
  EXPECT_EQ(ibv_close_device(other), 0);
}

class SeveralQueues : public FaceTest {
 protected:
  SeveralQueues() : FaceTest({.engines = 3}) {}
};

TEST_F(SeveralQueues, AreAsManyCompletionVectors) { EXPECT_EQ(context_->num_comp_vectors, 3); }

}  // namespace
}  // namespace uroce::ibverbs
