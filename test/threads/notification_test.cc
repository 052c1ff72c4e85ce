// SPDX-License-Identifier: BSD-3-Clause
// Notification from end to end: an application thread that sleeps until its handler was called,
// with the engine on one thread and the handler on the control thread.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "test/threads/bed.h"

namespace uroce::threads {
namespace {

class Sleeper {
 public:
  static void called(ib_cq*, void* self) {
    auto& sleeper = *static_cast<Sleeper*>(self);
    {
      const std::lock_guard guard(sleeper.lock_);
      ++sleeper.calls_;
    }
    sleeper.wake_.notify_one();
  }
  // Until the handler has been called once more than it was slept for; false: too long.
  bool sleep() {
    std::unique_lock guard(lock_);
    if (!wake_.wait_for(guard, kPatience, [this] { return calls_ > heard_; })) return false;
    heard_ = calls_;
    return true;
  }

 private:
  std::mutex lock_;
  std::condition_variable wake_;
  uint64_t calls_ = 0;
  uint64_t heard_ = 0;
};

TEST(Notification, AThreadThatSleepsBetweenMessagesIsWokenForEach) {
  constexpr int kMessages = 1500;
  Bed bed(engine::DriveMode::kWorker);
  Sleeper sleeper;
  End sender(bed, IB_QPT_UD);
  End receiver(bed, IB_QPT_UD, &Sleeper::called, &sleeper);
  sender.activate();
  receiver.activate();
  receiver.post_recvs();
  ib_ah* ah = make_ah(sender, device::kTestIpv4);
  std::atomic<int> received{0};
  std::atomic<bool> lost{false};
  std::thread application([&] {
    while (received < kMessages && !lost) {
      const auto entries = receiver.poll();
      for (const ib_wc& wc : entries) EXPECT_EQ(wc.status, IB_WC_SUCCESS);
      receiver.post_recvs();
      received += static_cast<int>(entries.size());
      if (!entries.empty()) continue;
      constexpr auto kFlags =
          static_cast<ib_cq_notify_flags>(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
      if (ib_req_notify_cq(receiver.cq(), kFlags) == 0 && !sleeper.sleep()) lost = true;
    }
  });
  // The next message goes only when the one before has been taken: nobody else wakes the thread.
  for (int i = 0; i < kMessages && !lost; ++i) {
    ASSERT_TRUE(sender.post_datagram(ah, receiver.qp()->qp_num));
    EXPECT_TRUE(eventually([&] { return lost || received > i; }));
    sender.poll();
  }
  application.join();
  EXPECT_FALSE(lost) << "a wake-up was lost after " << received << " messages";
  EXPECT_EQ(rdma_destroy_ah(ah, 0), 0);
}

}  // namespace
}  // namespace uroce::threads
