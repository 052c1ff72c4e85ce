// SPDX-License-Identifier: BSD-3-Clause
// Inline shared mode: several threads post, poll and drive the engines as they come.
#include <gtest/gtest.h>

#include "test/threads/bed.h"

namespace uroce::threads {
namespace {

TEST(SharedMode, ThreadsThatAllDriveTheEnginesGetWhatIsTheirs) {
  constexpr int kMessages = 2000;
  Bed bed(engine::DriveMode::kInlineShared);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&bed] {
      End left(bed, IB_QPT_RC);
      End right(bed, IB_QPT_RC);
      left.connect(right);
      right.connect(left);
      int sent = 0, done = 0, received = 0;
      EXPECT_TRUE(eventually([&] {
        right.post_recvs();
        while (sent < kMessages && sent - done < 32 && left.post_send()) ++sent;
        bed.poll();
        for (const ib_wc& wc : left.poll()) {
          EXPECT_EQ(wc.status, IB_WC_SUCCESS);
          ++done;
        }
        for (const ib_wc& wc : right.poll()) {
          EXPECT_EQ(wc.status, IB_WC_SUCCESS);
          EXPECT_EQ(wc.wr_id, static_cast<__u64>(received++));
        }
        return done == kMessages && received == kMessages;
      }));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace uroce::threads
