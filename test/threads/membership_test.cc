// SPDX-License-Identifier: BSD-3-Clause
// Members of several threads come and go: the network hears of each first and each last one, and
// of nothing else.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "test/threads/bed.h"
#include "wire/igmp.h"

namespace uroce::threads {
namespace {

using wire::RecordType;

#ifdef __SANITIZE_THREAD__
constexpr int kRounds = 300;  // each a dozen times as long
#else
constexpr int kRounds = 10'000;
#endif
constexpr int kThreads = 8;

// What IGMP said of each group, as a router hears it that misses nothing.
class Router {
 public:
  void hear(std::span<const uint8_t> frame) {
    wire::L3Info info;
    const wire::ParseOptions options;
    if (wire::classify(frame, options, info) != wire::FrameKind::kIgmp) return;
    wire::MembershipMessage message;
    ASSERT_EQ(wire::parse_igmp(frame, info, options, message), wire::Drop::kNone);
    const std::lock_guard guard(lock_);
    wire::GroupRecord record;
    while (wire::next_record(message.records, false, record)) note(record);
  }
  // Joins and leaves without their repetitions.
  uint64_t changes() const {
    const std::lock_guard guard(lock_);
    return changes_;
  }
  size_t joined() const {
    const std::lock_guard guard(lock_);
    size_t count = 0;
    for (const auto& [group, said] : groups_) count += said.type == RecordType::kChangeToExclude;
    return count;
  }

 private:
  struct Said {
    RecordType type = RecordType::kChangeToInclude;
    int times = 0;
  };
  void note(const wire::GroupRecord& record) {
    Said& said = groups_[record.group];
    if (said.type != record.type) {
      said = {record.type, 0};
      ++changes_;
    }
    EXPECT_LE(++said.times, 2) << "robustness";
  }

  mutable std::mutex lock_;
  std::map<Gid, Said> groups_;
  uint64_t changes_ = 0;
};

// case 65: 8 threads attach and detach 10^4 times, two of them alone in their group: one report and
// one leave for each true change, which are those that open and close the port's filter.
TEST(Membership, OfSeveralThreadsIsReportedOnceForEachTrueChange) {
  Router router;
  Bed bed(engine::DriveMode::kWorker, 1,
          [&](std::span<const uint8_t> frame) { router.hear(frame); });
  const size_t before = bed.port().log.size();
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&bed, i] {
      End member(bed, IB_QPT_UD);
      ib_gid mgid = gid_of(Gid::from_ipv4(0xEF010200u + i % 5));
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_EQ(ib_attach_mcast(member.qp(), &mgid, 0), 0);
        ASSERT_EQ(ib_detach_mcast(member.qp(), &mgid, 0), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const size_t true_changes = bed.port().log.size() - before;
  EXPECT_TRUE(eventually([&] { return router.changes() >= true_changes; }));
  EXPECT_EQ(router.changes(), true_changes);
  EXPECT_GE(true_changes, 2 * 2 * size_t{kRounds}) << "those of the two that are alone";
  EXPECT_EQ(router.joined(), 0u);
  EXPECT_TRUE(bed.object().list_groups().empty());
}

}  // namespace
}  // namespace uroce::threads
