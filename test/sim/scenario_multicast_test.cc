// SPDX-License-Identifier: BSD-3-Clause
// Multicast between hosts: groups with one MAC address, loss of single members, joins and leaves
// under load, sources, and queriers that change their version.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "test/sim/bring_up.h"
#include "test/sim/host.h"
#include "test/sim/must.h"
#include "wire/igmp.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Gid kGroup = Gid::from_ipv4(0xE0010101);    // 224.1.1.1
constexpr Gid kSameMac = Gid::from_ipv4(0xE1010101);  // 225.1.1.1
constexpr uint32_t kQkey = 0x11111111;
constexpr uint32_t kDepth = 64;
constexpr uint32_t kSlot = 256;
constexpr uint32_t kGrh = 40;

ib_gid verbs_gid(const Gid& gid) {
  ib_gid result;
  std::memcpy(result.raw, gid.bytes.data(), 16);
  return result;
}

// A UD queue pair that sends numbers and notes those that come.
class End {
 public:
  explicit End(Host& host) : host_(host), memory_(2 * kDepth * kSlot) {
    pd_ = must(ib_alloc_pd(host.device(), 0), "ib_alloc_pd");
    ib_cq_init_attr cq_attr{};
    cq_attr.cqe = 4 * kDepth;
    cq_ = must(ib_create_cq(host.device(), nullptr, nullptr, nullptr, &cq_attr), "ib_create_cq");
    const auto start = reinterpret_cast<uint64_t>(memory_.data());
    mr_ = must(ib_reg_user_mr(pd_, start, memory_.size(), start, IB_ACCESS_LOCAL_WRITE),
               "ib_reg_user_mr");
    ib_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_;
    init.cap = {kDepth, kDepth, 1, 1, 64, 0};
    init.sq_sig_type = IB_SIGNAL_ALL_WR;
    init.qp_type = IB_QPT_UD;
    qp_ = must(ib_create_qp(pd_, &init), "ib_create_qp");
    bring_up_datagrams(qp_, kQkey);
    for (uint64_t i = 0; i < kDepth; ++i) post_recv(i);
  }
  ~End() {
    for (ib_ah* ah : ahs_) rdma_destroy_ah(ah, 0);
    ib_destroy_qp(qp_);
    ib_dereg_mr(mr_);
    ib_destroy_cq(cq_);
    ib_dealloc_pd(pd_);
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  int attach(const Gid& group) {
    ib_gid gid = verbs_gid(group);
    return ib_attach_mcast(qp_, &gid, 0);
  }
  int detach(const Gid& group) {
    ib_gid gid = verbs_gid(group);
    return ib_detach_mcast(qp_, &gid, 0);
  }
  int attach_source(const Gid& group, const Gid& source) {
    ib_gid gid = verbs_gid(group);
    const ib_gid from = verbs_gid(source);
    return uroce_attach_mcast_source(qp_, &gid, &from);
  }

  void send(const Gid& group, uint32_t number) {
    uint8_t payload[64] = {};
    std::memcpy(payload, &number, sizeof number);
    ib_sge sge{reinterpret_cast<uint64_t>(payload), sizeof payload, 0};
    ib_ud_wr wr{};
    wr.wr.opcode = IB_WR_SEND;
    wr.wr.send_flags = IB_SEND_INLINE;
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.ah = address_of(group);
    wr.remote_qpn = IB_MULTICAST_QPN;
    wr.remote_qkey = kQkey;
    ASSERT_EQ(ib_post_send(qp_, &wr.wr, nullptr), 0);
    host_.pump();
  }

  // What has come since the last call; no number twice.
  std::set<uint32_t> heard() {
    std::set<uint32_t> numbers;
    ib_wc wc[16];
    for (int n = ib_poll_cq(cq_, 16, wc); n > 0; n = ib_poll_cq(cq_, 16, wc)) {
      for (int i = 0; i < n; ++i) {
        if (wc[i].opcode != IB_WC_RECV) continue;
        EXPECT_EQ(wc[i].status, IB_WC_SUCCESS);
        uint32_t number = 0;
        std::memcpy(&number, memory_.data() + wc[i].wr_id * kSlot + kGrh, sizeof number);
        EXPECT_TRUE(numbers.insert(number).second) << number;
        post_recv(wc[i].wr_id);
      }
    }
    return numbers;
  }

 private:
  void post_recv(uint64_t slot) {
    ib_sge sge{reinterpret_cast<uint64_t>(memory_.data()) + slot * kSlot, kSlot, mr_->lkey};
    ib_recv_wr wr{};
    wr.wr_id = slot;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    EXPECT_EQ(ib_post_recv(qp_, &wr, nullptr), 0);
  }
  ib_ah* address_of(const Gid& group) {
    rdma_ah_attr attr{};
    attr.type = RDMA_AH_ATTR_TYPE_ROCE;
    attr.port_num = 1;
    ib_gid dgid = verbs_gid(group);
    const int index = host_.rdma_device().find_gid(host_.ipv4());
    rdma_ah_set_grh(&attr, &dgid, 0, static_cast<uint8_t>(index), 64, 0);
    ahs_.push_back(must(rdma_create_ah(pd_, &attr, 0), "rdma_create_ah"));
    return ahs_.back();
  }

  Host& host_;
  std::vector<uint8_t> memory_;
  std::vector<ib_ah*> ahs_;
  ib_pd* pd_ = nullptr;
  ib_cq* cq_ = nullptr;
  ib_mr* mr_ = nullptr;
  ib_qp* qp_ = nullptr;
};

// A sender on the first of four hosts, a listener on each of the others.
class MulticastScenario : public testing::Test {
 protected:
  MulticastScenario() {
    for (uint8_t i = 0; i < 4; ++i) {
      world.add_host(std::make_unique<Host>(world, i + 1, i + 1)).start();
    }
    for (uint8_t i = 0; i < 4; ++i) ends.push_back(std::make_unique<End>(world.host(i)));
  }
  End& sender() { return *ends[0]; }
  End& listener(size_t i) { return *ends[i + 1]; }
  void run_for(Duration span) { world.run_until(world.now() + span); }
  void send(const Gid& group, uint32_t number) {
    sender().send(group, number);
    run_for(microseconds(50));
  }

  World world{1};
  std::vector<std::unique_ptr<End>> ends;
};

TEST_F(MulticastScenario, GroupsThatShareAMacAddressDoNotMix_Case62) {
  ASSERT_EQ(listener(0).attach(kGroup), 0);
  ASSERT_EQ(listener(1).attach(kSameMac), 0);
  ASSERT_EQ(listener(2).attach(kGroup), 0);
  ASSERT_EQ(listener(2).attach(kSameMac), 0);
  for (uint32_t i = 0; i < 10; ++i) send(i % 2 == 0 ? kGroup : kSameMac, i);
  EXPECT_EQ(listener(0).heard(), (std::set<uint32_t>{0, 2, 4, 6, 8}));
  EXPECT_EQ(listener(1).heard(), (std::set<uint32_t>{1, 3, 5, 7, 9}));
  EXPECT_EQ(listener(2).heard().size(), 10u);
  EXPECT_EQ(listener(0).detach(kGroup), 0);
  EXPECT_EQ(listener(1).detach(kSameMac), 0);
  EXPECT_EQ(listener(2).detach(kGroup), 0);
  send(kGroup, 10);
  send(kSameMac, 11);
  EXPECT_EQ(listener(2).heard(), (std::set<uint32_t>{11}));
  EXPECT_EQ(listener(2).detach(kSameMac), 0);
}

// Each copy on the wire is lost by itself: what one member misses the others have.
TEST_F(MulticastScenario, EachMemberLosesItsOwnCopies) {
  for (size_t i = 0; i < 3; ++i) ASSERT_EQ(listener(i).attach(kGroup), 0);
  run_for(milliseconds(1));
  world.faults.loss = 0.2;
  std::set<uint32_t> heard[3];
  for (uint32_t number = 0; number < 500; ++number) {
    send(kGroup, number);
    for (size_t i = 0; i < 3; ++i) heard[i].merge(listener(i).heard());
    sender().heard();
  }
  world.faults.loss = 0;
  std::set<uint32_t> by_anybody;
  for (const auto& numbers : heard) {
    EXPECT_GT(numbers.size(), 350u);
    EXPECT_LT(numbers.size(), 450u);
    by_anybody.insert(numbers.begin(), numbers.end());
  }
  EXPECT_GT(by_anybody.size(), 480u);
  EXPECT_NE(heard[0], heard[1]);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(listener(i).detach(kGroup), 0);
}

// case 65: a packet sees a group before or after a change, and a detach that has returned is final.
TEST_F(MulticastScenario, JoinsAndLeavesUnderLoadAreExact_Case65) {
  Random random(3);
  bool member[3] = {};
  for (uint32_t number = 0; number < 2000; ++number) {
    const size_t i = random.below(3);
    if (random.below(3) == 0) {
      ASSERT_EQ(member[i] ? listener(i).detach(kGroup) : listener(i).attach(kGroup), 0);
      member[i] = !member[i];
    }
    send(kGroup, number);
    sender().heard();
    for (size_t other = 0; other < 3; ++other) {
      const std::set<uint32_t> heard = listener(other).heard();
      ASSERT_EQ(heard, member[other] ? std::set<uint32_t>{number} : std::set<uint32_t>{});
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    if (member[i]) listener(i).detach(kGroup);
  }
}

TEST_F(MulticastScenario, AMemberBySourceHearsThatHostOnly) {
  ASSERT_EQ(listener(0).attach_source(kGroup, world.host(0).ipv4()), 0);
  ASSERT_EQ(listener(1).attach(kGroup), 0);
  send(kGroup, 1);
  ends[3]->send(kGroup, 2);
  run_for(milliseconds(1));
  EXPECT_EQ(listener(0).heard(), std::set<uint32_t>{1});
  EXPECT_EQ(listener(1).heard(), (std::set<uint32_t>{1, 2}));
  EXPECT_EQ(listener(0).detach(kGroup), 0);
  EXPECT_EQ(listener(1).detach(kGroup), 0);
}

// What the first listener's host says of its group, by the type byte of IGMP.
class QuerierScenario : public MulticastScenario {
 protected:
  QuerierScenario() {
    world.tap = [this](const Host& from, std::span<const uint8_t> frame) {
      if (&from != &world.host(1)) return;
      wire::L3Info info;
      if (wire::classify(frame, {}, info) != wire::FrameKind::kIgmp) return;
      said_.push_back(frame[info.l4_offset]);
    };
  }
  void ask(uint8_t version) {
    wire::MembershipMessage query;
    query.version = version;
    query.max_response_ms = version == 1 ? 0 : 1000;
    std::vector<uint8_t> frame(128);
    const wire::LinkSource router{{{0x02, 0, 0, 0, 0, 0x99}}, false, 0};
    frame.resize(wire::build_igmp(frame, router, 0, query, {}));
    world.inject(world.host(1), frame);
  }
  // Since the last call.
  std::vector<uint8_t> answers(Duration span) {
    run_for(span);
    return std::exchange(said_, {});
  }
  using Said = std::vector<uint8_t>;
  static constexpr uint8_t kReport1 = 0x12;
  static constexpr uint8_t kReport2 = 0x16;
  static constexpr uint8_t kLeave2 = 0x17;
  static constexpr uint8_t kReport3 = 0x22;
  std::vector<uint8_t> said_;
};

// case 61: the oldest querier of late decides, and after it is silent the newest version is back.
TEST_F(QuerierScenario, TheVersionFollowsTheQueriersAndReturns_Case61) {
  ASSERT_EQ(listener(0).attach_source(kGroup, world.host(0).ipv4()), 0);
  EXPECT_EQ(answers(seconds(5)), (Said{kReport3, kReport3}));
  ask(3);
  EXPECT_EQ(answers(seconds(2)), Said{kReport3});
  ask(2);
  EXPECT_EQ(answers(seconds(2)), Said{kReport2});
  ask(1);
  EXPECT_EQ(answers(seconds(11)), Said{kReport1});
  ask(2);
  EXPECT_EQ(answers(seconds(11)), Said{kReport1}) << "a querier of version 1 is still there";
  run_for(seconds(2 * 125));
  ask(2);
  EXPECT_EQ(answers(seconds(2)), Said{kReport2}) << "only that of version 2";
  ASSERT_EQ(listener(0).detach(kGroup), 0);
  EXPECT_EQ(answers(seconds(5)), (Said{kLeave2, kLeave2}));
  run_for(seconds(2 * 125 + 1));
  ASSERT_EQ(listener(0).attach(kGroup), 0);
  EXPECT_EQ(answers(seconds(5)), (Said{kReport3, kReport3}));
  ASSERT_EQ(listener(0).detach(kGroup), 0);
}

}  // namespace
}  // namespace uroce::sim
