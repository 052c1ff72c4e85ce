// SPDX-License-Identifier: BSD-3-Clause
// Link changes are seen once each, by carrier and by MTU.
#include "nic/link_watch.h"

#include "nic/netns_test.h"

namespace uroce::nic {
namespace {

class LinkWatchTest : public NetnsTest {
 protected:
  void set_peer(const char* state) {
    enter_b();
    run(std::string("ip link set vb ") + state);
    enter_a();
  }
};

TEST_F(LinkWatchTest, EachChangeIsToldOnce) {
  LinkWatch watch(0, index_of("va"));
  EXPECT_FALSE(watch.changed());
  set_peer("down");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
  set_peer("up");
  EXPECT_TRUE(watch.changed());
  run("ip link set va mtu 4200");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
}

TEST_F(LinkWatchTest, ALinkThatWentAndCameBetweenTwoLooksIsSeen) {
  const auto kernel = KernelInterface::open(index_of("va"));
  ASSERT_TRUE(kernel.ok());
  LinkWatch watch(0, index_of("va"));
  set_peer("down");
  set_peer("up");
  for (int i = 0; i < 1000 && !(*kernel)->link()->up; ++i) usleep(1'000);
  ASSERT_TRUE((*kernel)->link()->up);
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
}

TEST_F(LinkWatchTest, PortThatIsGoneIsDown) {
  LinkWatch watch(0, index_of("va"));
  run("ip link del va");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
}

}  // namespace
}  // namespace uroce::nic
