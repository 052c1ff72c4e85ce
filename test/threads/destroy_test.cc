// SPDX-License-Identifier: BSD-3-Clause
// Objects that are destroyed under load: when the call has returned, engines neither write the
// memory nor complete anything of the object, and the memory is free to be used.
#include <gtest/gtest.h>

#include "base/log.h"
#include "test/threads/bed.h"

namespace uroce::threads {
namespace {

// A pair of RC ends, of which a thread keeps the left one busy.
class BusyPair {
 public:
  explicit BusyPair(Bed& bed) : left_(bed, IB_QPT_RC), right_(bed, IB_QPT_RC) {
    left_.connect(right_);
    right_.connect(left_);
    right_.post_recvs();
    target_ = right_.target();
  }
  ~BusyPair() { stop(); }

  // `write`: RDMA WRITEs; else SENDs, for which nobody posts new receives.
  void start(bool write) {
    poster_ = std::thread([this, write] {
      while (!stop_) {
        const bool posted = write ? left_.post_write(target_) : left_.post_send();
        for (const ib_wc& wc : left_.poll()) {
          if (wc.status == IB_WC_SUCCESS) {
            done_.fetch_add(1, relaxed);
          } else {
            failed_ = true;
          }
        }
        if (!posted) std::this_thread::yield();
      }
    });
    EXPECT_TRUE(eventually([this] { return done() > 20 || failed_.load(relaxed); }));
  }
  void stop() {
    stop_ = true;
    if (poster_.joinable()) poster_.join();
  }
  End& left() { return left_; }
  End& right() { return right_; }
  bool failed() const { return failed_; }

 private:
  // Relaxed: looking on must not be what orders an engine's writes before the caller's.
  static constexpr auto relaxed = std::memory_order_relaxed;
  uint64_t done() const { return done_.load(relaxed); }

  End left_;
  End right_;
  Target target_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> done_{0};
  std::atomic<bool> failed_{false};
  std::thread poster_;
};

class Destroy : public testing::Test {
 protected:
  // A peer that disappears is what these tests are about: the log has nothing to add.
  Destroy() {
    set_log_sink([](void*, LogLevel, std::string_view) {}, nullptr);
  }
  ~Destroy() override { set_log_sink(nullptr, nullptr); }
  static constexpr int kRounds = 50;
};

TEST_F(Destroy, AReceiverThatIsDestroyedUnderLoadIsLeftAlone) {
  Bed bed(engine::DriveMode::kWorker);
  for (int round = 0; round < kRounds; ++round) {
    BusyPair pair(bed);
    pair.start(false);
    pair.right().destroy_qp();
    EXPECT_EQ(pair.right().poll().size(), 0u) << "its completions are taken back";
    pair.right().overwrite_memory(0xEE);
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    EXPECT_EQ(pair.right().poll().size(), 0u);
    pair.stop();
  }
}

TEST_F(Destroy, ASenderThatIsDestroyedWithRequestsInFlightLeavesNoCompletion) {
  Bed bed(engine::DriveMode::kWorker);
  for (int round = 0; round < kRounds; ++round) {
    BusyPair pair(bed);
    pair.start(true);
    pair.stop();
    while (pair.left().post_write(pair.right().target())) {
    }
    pair.left().destroy_qp();
    EXPECT_EQ(pair.left().poll().size(), 0u);
    pair.left().overwrite_memory(0xEE);
  }
}

TEST_F(Destroy, MemoryThatIsDeregisteredUnderLoadIsNotWrittenAnyMore) {
  Bed bed(engine::DriveMode::kWorker);
  for (int round = 0; round < kRounds; ++round) {
    BusyPair pair(bed);
    pair.start(true);
    pair.right().deregister();
    pair.right().overwrite_memory(0xEE);  // ThreadSanitizer sees who else writes there
    EXPECT_TRUE(eventually([&] { return pair.failed(); })) << "the key is still good";
    pair.stop();
  }
}

TEST_F(Destroy, TheDeviceStopsUnderLoad) {
  for (int round = 0; round < 5; ++round) {
    Bed bed(engine::DriveMode::kWorker);
    BusyPair pair(bed);
    pair.start(true);
    EXPECT_EQ(bed.object().shut_down(), 0);
    EXPECT_TRUE(eventually([&] { return pair.failed(); })) << "posted work is not flushed";
    pair.stop();
  }
}

}  // namespace
}  // namespace uroce::threads
