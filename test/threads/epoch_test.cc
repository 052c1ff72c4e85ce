// SPDX-License-Identifier: BSD-3-Clause
// Grace periods: what was unpublished is freed while two engines go on looking it up.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "base/epoch.h"
#include "memory/key_table.h"
#include "test/threads/bed.h"

namespace uroce::threads {
namespace {

// Two threads that run turns, each doing `work` inside.
template <typename Work>
class Turners {
 public:
  explicit Turners(Work work) : work_(work) {
    for (EpochSlot& slot : slots_) {
      threads_.emplace_back([this, &slot] {
        while (!stop_.load(std::memory_order_relaxed)) {
          slot.begin_turn(false);
          work_();
          slot.end_turn();
          // Turns follow each other closely, but the CPU is given away now and then.
          if (turns_.fetch_add(1, std::memory_order_relaxed) % 64 == 0) std::this_thread::yield();
        }
      });
    }
  }
  ~Turners() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  // As EngineCaller::wait_grace_period does it.
  void wait() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const EpochSlot& slot : slots_) {
      const uint64_t snapshot = slot.snapshot();
      ASSERT_TRUE(eventually([&] { return slot.quiet_since(snapshot); }));
    }
  }
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }

 private:
  Work work_;
  std::array<EpochSlot, 2> slots_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> turns_{0};
  std::vector<std::thread> threads_;
};

TEST(Epoch, NobodyLooksAtWhatWasFreedAfterAGracePeriod) {
  constexpr uint64_t kGood = 0x600D;
  std::atomic<uint64_t*> published{nullptr};
  std::atomic<uint64_t> wrong{0};
  {
    Turners turners([&] {
      const uint64_t* object = published.load(std::memory_order_acquire);
      if (object != nullptr && *object != kGood) ++wrong;
    });
    for (int i = 0; i < 60'000; ++i) {
      auto object = std::make_unique<uint64_t>(kGood);
      published.store(object.get(), std::memory_order_release);
      if (i % 64 == 0) std::this_thread::yield();
      published.store(nullptr, std::memory_order_release);
      turners.wait();
      *object = 0xBAD;  // and freed
    }
    EXPECT_TRUE(eventually([&] { return turners.turns() > 0; }));
  }
  EXPECT_EQ(wrong.load(), 0u);
}

TEST(Epoch, AKeysSlotIsFilledAnewBehindTheBackOfTwoEngines) {
  memory::KeyTable keys(4);
  std::atomic<uint32_t> current{0};
  std::atomic<uint64_t> wrong{0};
  // Region n lies at address n and gives its own number as base: a mixture would show.
  Turners turners([&] {
    const uint32_t key = current.load(std::memory_order_acquire);
    uint8_t* pointer = nullptr;
    if (keys.translate(Key(key), 7, memory::kLocalWrite, key, 16, pointer) ==
            memory::KeyVerdict::kGood &&
        pointer != reinterpret_cast<uint8_t*>(uintptr_t{key} << 4)) {
      ++wrong;
    }
  });
  for (uint32_t i = 1; i < 60'000; ++i) {
    const Key key(1u << 8 | (i & 0xFF));
    keys.publish(key, {.base = reinterpret_cast<uint8_t*>(uintptr_t{key.value()} << 4),
                       .iova = key.value(),
                       .length = 16,
                       .pd = 7,
                       .access = memory::kLocalWrite});
    current.store(key.value(), std::memory_order_release);
    if (i % 64 == 0) std::this_thread::yield();
    keys.unpublish(key);
    turners.wait();
  }
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace uroce::threads
