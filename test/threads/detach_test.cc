// SPDX-License-Identifier: BSD-3-Clause
// The detach barrier under load: after ib_detach_mcast has returned, no completion of the group
// comes any more and no byte of the receives is written, whichever engine the member lives on.
#include <gtest/gtest.h>

#include "test/threads/bed.h"

namespace uroce::threads {
namespace {

// A thread that sends to a group for as long as it lives.
class GroupSender {
 public:
  GroupSender(Bed& bed, const Gid& group) : end_(bed, IB_QPT_UD) {
    end_.activate();
    ah_ = make_ah(end_, group);
    thread_ = std::thread([this] {
      while (!stop_) {
        end_.post_datagram(ah_, 0xFFFFFF);
        const auto entries = end_.poll();
        for (const ib_wc& wc : entries) EXPECT_EQ(wc.status, IB_WC_SUCCESS);
        sent_ += entries.size();
        if (entries.empty()) std::this_thread::yield();
      }
    });
  }
  ~GroupSender() {
    stop_ = true;
    thread_.join();
    EXPECT_EQ(rdma_destroy_ah(ah_, 0), 0);
  }
  uint64_t sent() const { return sent_; }

 private:
  End end_;
  ib_ah* ah_ = nullptr;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> sent_{0};
  std::thread thread_;
};

// MC-48: attaches, hears, detaches and then must hear nothing, again and again.
void come_and_go(Bed& bed, const GroupSender& sender, const Gid& group, int rounds) {
  End member(bed, IB_QPT_UD);
  member.activate();
  ib_gid mgid = gid_of(group);
  for (int round = 0; round < rounds; ++round) {
    member.post_recvs();
    ASSERT_EQ(ib_attach_mcast(member.qp(), &mgid, 0), 0);
    int heard = 0;
    ASSERT_TRUE(eventually([&] {
      const auto entries = member.poll();
      for (const ib_wc& wc : entries) EXPECT_EQ(wc.status, IB_WC_SUCCESS);
      heard += static_cast<int>(entries.size());
      member.post_recvs();
      return heard >= 10;
    }));
    ASSERT_EQ(ib_detach_mcast(member.qp(), &mgid, 0), 0);
    member.poll();  // what came before
    member.post_recvs();
    member.overwrite_memory(0xEE);  // ThreadSanitizer sees who else writes there
    const uint64_t before = sender.sent();
    ASSERT_TRUE(eventually([&] { return sender.sent() >= before + 40; }));
    ASSERT_EQ(member.poll().size(), 0u) << "round " << round;
  }
}

TEST(Detach, NothingOfTheGroupComesAfterItHasReturned) {
  Bed bed(engine::DriveMode::kWorker);
  GroupSender sender(bed, device::kTestGroup);
  // Four members at once, spread over both engines: some come while others go.
  std::vector<std::thread> members;
  for (int i = 0; i < 4; ++i) {
    members.emplace_back([&] { come_and_go(bed, sender, device::kTestGroup, 50); });
  }
  for (std::thread& member : members) member.join();
  EXPECT_TRUE(bed.object().list_groups().empty());
}

TEST(Detach, TheOtherMembersGoOnHearing) {
  Bed bed(engine::DriveMode::kWorker);
  GroupSender sender(bed, device::kTestGroup6);
  End stays(bed, IB_QPT_UD);
  stays.activate();
  stays.post_recvs();
  ib_gid mgid = gid_of(device::kTestGroup6);
  ASSERT_EQ(ib_attach_mcast(stays.qp(), &mgid, 0), 0);
  std::atomic<bool> done{false};
  std::thread goes([&] {
    come_and_go(bed, sender, device::kTestGroup6, 40);
    done = true;
  });
  uint64_t heard = 0;
  while (!done) {
    heard += stays.poll().size();
    stays.post_recvs();
    std::this_thread::yield();
  }
  goes.join();
  EXPECT_GT(heard, 0u);
  const uint64_t before = heard;
  EXPECT_TRUE(eventually([&] {
    heard += stays.poll().size();
    stays.post_recvs();
    return heard >= before + 20;
  }));
  EXPECT_EQ(ib_detach_mcast(stays.qp(), &mgid, 0), 0);
}

}  // namespace
}  // namespace uroce::threads
