// SPDX-License-Identifier: BSD-3-Clause
// Tests of queue pairs as objects: creation, legal and illegal changes, the end.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "device/device_fixture.h"

namespace uroce::device {
namespace {

using transport::QpState;
using transport::QpType;

class QueuePairs : public ObjectsBed, public testing::Test {
 protected:
  QueuePairs() : ObjectsBed(TestBedOptions{.engines = 2, .qp_slots = 8}) {}
  static QpChange to(QpState state, uint32_t mask) {
    QpChange change;
    change.mask = mask | transport::kAttrState;
    change.attributes.state = state;
    return change;
  }
  static constexpr uint32_t kRcInit =
      transport::kAttrPkeyIndex | transport::kAttrPort | transport::kAttrAccessFlags;
};

// QP-01, QP-06, QP-07, QP-20.
TEST_F(QueuePairs, AreMadeInResetAndKeepTheirCq) {
  for (const QpType type : {QpType::kRc, QpType::kUd}) {
    QpHandle qp;
    ASSERT_EQ(device().create_qp(*pd_, request(type), qp), 0);
    EXPECT_GT(qp.qpn.value(), 1u);
    EXPECT_LT(qp.qpn.value(), 0xFFFFFFu);
    EXPECT_EQ(qp.queues->state_word.load(), QpState::kReset);
    QpChange now;
    EXPECT_EQ(device().query_qp(qp, now), 0);
    EXPECT_EQ(now.attributes.state, QpState::kReset);
    EXPECT_GE(qp.capabilities.send_wr_max, 4u);
    EXPECT_EQ(cq_.object->use_count, 2u);
    EXPECT_EQ(device().destroy_cq(cq_), -EBUSY);
    EXPECT_EQ(device().destroy_pd(*pd_), -EBUSY);
    EXPECT_EQ(device().destroy_qp(qp), 0);
    EXPECT_EQ(cq_.object->use_count, 0u);
  }
}

// QP-02, QP-03, QP-04, QP-08.
TEST_F(QueuePairs, BadRequestsAreRefused) {
  QpHandle qp;
  QpRequest wrong = request(QpType::kRc);
  wrong.recv_cq = nullptr;
  EXPECT_EQ(device().create_qp(*pd_, wrong, qp), -EINVAL);
  wrong = request(QpType::kRc);
  wrong.capabilities.send_wr_max = device().limits().qp_wr_max + 1;
  EXPECT_EQ(device().create_qp(*pd_, wrong, qp), -EINVAL);
  wrong = request(QpType::kRc);
  wrong.capabilities.inline_bytes_max = device().limits().inline_bytes_max + 1;
  EXPECT_EQ(device().create_qp(*pd_, wrong, qp), -EINVAL);
  EXPECT_EQ(device().create_qp(*pd_, request(QpType::kSmi), qp), -EOPNOTSUPP);
  wrong = request(QpType::kRc);
  wrong.block_multicast_loopback = true;
  EXPECT_EQ(device().create_qp(*pd_, wrong, qp), -EOPNOTSUPP);
  EXPECT_EQ(pd_->use_count, 0u);
}

// QP-05.
TEST_F(QueuePairs, ThereIsOneGsiQueuePair) {
  QpHandle gsi;
  QpHandle second;
  ASSERT_EQ(device().create_qp(*pd_, request(QpType::kGsi), gsi), 0);
  EXPECT_EQ(gsi.qpn, kGsiQpn);
  EXPECT_EQ(device().create_qp(*pd_, request(QpType::kGsi), second), -EINVAL);
  EXPECT_EQ(device().destroy_qp(gsi), 0);
  ASSERT_EQ(device().create_qp(*pd_, request(QpType::kGsi), second), 0);
  EXPECT_EQ(device().destroy_qp(second), 0);
}

TEST_F(QueuePairs, SpreadOverTheEnginesUntilAllSlotsAreTaken) {
  std::vector<std::unique_ptr<QpHandle>> all;
  std::set<uint32_t> numbers;
  for (int i = 0; i < 16; ++i) {
    all.push_back(std::make_unique<QpHandle>());
    ASSERT_EQ(device().create_qp(*pd_, request(QpType::kRc), *all.back()), 0);
    EXPECT_EQ(all.back()->object->engine, static_cast<uint32_t>(i % 2));
    EXPECT_TRUE(numbers.insert(all.back()->qpn.value()).second);
  }
  QpHandle none;
  EXPECT_EQ(device().create_qp(*pd_, request(QpType::kRc), none), -ENOMEM);
  for (auto& qp : all) EXPECT_EQ(device().destroy_qp(*qp), 0);
}

// QP-14 … QP-17 and the ranges beside them.
TEST_F(QueuePairs, AChangeThatIsRefusedChangesNothing) {
  QpHandle qp;
  ASSERT_EQ(device().create_qp(*pd_, request(QpType::kRc), qp), 0);
  ASSERT_EQ(device().modify_qp(qp, to(QpState::kInit, kRcInit)), 0);
  EXPECT_EQ(device().modify_qp(qp, to(QpState::kRts, 0)), -EINVAL) << "no such transition";
  QpChange change = to(QpState::kInit, kRcInit);
  change.mask |= 1u << 21;
  EXPECT_EQ(device().modify_qp(qp, change), -EOPNOTSUPP);
  change = to(QpState::kInit, kRcInit);
  change.attributes.port = 2;
  EXPECT_EQ(device().modify_qp(qp, change), -EINVAL);
  change = to(QpState::kInit, kRcInit);
  change.attributes.pkey_index = 1;
  EXPECT_EQ(device().modify_qp(qp, change), -EINVAL);
  EXPECT_EQ(device().modify_qp(qp, to(QpState::kInit, kRcInit | transport::kAttrAltPath)), -EINVAL);
  EXPECT_EQ(device().modify_qp(qp, to(QpState::kInit, kRcInit | transport::kAttrTimeout)), -EINVAL);
  QpChange now;
  EXPECT_EQ(device().query_qp(qp, now), 0);
  EXPECT_EQ(now.attributes.state, QpState::kInit);
  EXPECT_EQ(device().destroy_qp(qp), 0);
}

class RtrTransition : public QueuePairs {
 protected:
  RtrTransition() {
    EXPECT_EQ(device().create_qp(*pd_, request(QpType::kRc), qp_), 0);
    EXPECT_EQ(device().modify_qp(qp_, to(QpState::kInit, kRcInit)), 0);
  }
  ~RtrTransition() override { EXPECT_EQ(device().destroy_qp(qp_), 0); }
  QpChange rtr() {
    QpChange change = to(QpState::kRtr, 0x129181);
    change.attributes.path_mtu = PathMtu::k1024;
    change.attributes.dest_qpn = Qpn(0x12);
    change.attributes.rq_psn = Psn(0x1234567);
    change.path.dgid = kTestIpv4;
    change.path.sgid_index = 1;
    change.path.global = true;
    return change;
  }
  QpHandle qp_;
};

// QP-13.
TEST_F(RtrTransition, WorksToAnOwnAddress) {
  ASSERT_EQ(device().modify_qp(qp_, rtr()), 0);
  QpChange now;
  ASSERT_EQ(device().query_qp(qp_, now), 0);
  EXPECT_EQ(now.attributes.state, QpState::kRtr);
  EXPECT_EQ(now.attributes.rq_psn.value(), 0x234567u);
  EXPECT_EQ(now.path.dgid, kTestIpv4);
  EXPECT_EQ(now.path.dmac, kTestMac);
  EXPECT_NE(now.mask & transport::kAttrAv, 0u);
}

// QP-14, QP-16, QP-18; cases 59.
TEST_F(RtrTransition, RefusesWrongValuesAndPaths) {
  QpChange wrong = rtr();
  wrong.path.sgid_index = 200;
  EXPECT_EQ(device().modify_qp(qp_, wrong), -EINVAL);
  wrong = rtr();
  wrong.path.dgid = kTestIpv6;
  EXPECT_EQ(device().modify_qp(qp_, wrong), -EINVAL);
  wrong = rtr();
  wrong.path.dgid = Gid::from_ipv4(0xE0000101);
  EXPECT_EQ(device().modify_qp(qp_, wrong), -EINVAL) << "a group";
  wrong = rtr();
  wrong.attributes.min_rnr_timer = 32;
  EXPECT_EQ(device().modify_qp(qp_, wrong), -EINVAL);
  wrong = rtr();
  wrong.attributes.dest_rd_atomic_max = transport::kReadAtomicMax + 1;
  EXPECT_EQ(device().modify_qp(qp_, wrong), -EINVAL);
  wrong = rtr();
  wrong.mask |= transport::kAttrCurState;
  EXPECT_EQ(device().modify_qp(qp_, wrong), -EINVAL);
  wrong = rtr();
  wrong.path.dgid = kTestPeer;
  EXPECT_EQ(device().modify_qp(qp_, wrong), -ETIMEDOUT) << "nobody answers";
  QpChange now;
  ASSERT_EQ(device().query_qp(qp_, now), 0);
  EXPECT_EQ(now.attributes.state, QpState::kInit);
  EXPECT_EQ(device().modify_qp(qp_, rtr()), 0);
}

// case 73: the error alone would not say that a GID index may be the wrong one.
TEST_F(RtrTransition, AnAddressThatCannotBeReachedIsNamedInTheLog) {
  static std::vector<std::string> lines;
  lines.clear();
  set_log_sink([](void*, LogLevel, std::string_view line) { lines.emplace_back(line); }, nullptr);
  QpChange change = rtr();
  change.path.dgid = kTestPeer;
  const Time before = bed_.clock();
  EXPECT_EQ(device().modify_qp(qp_, change), -ETIMEDOUT);
  EXPECT_LE(bed_.clock() - before, std::chrono::milliseconds(3'051));
  change.path.dgid = Gid::from_ipv4(0x0B000001);
  EXPECT_EQ(device().modify_qp(qp_, change), -EHOSTUNREACH);
  EXPECT_EQ(device().modify_qp(qp_, rtr()), 0);
  set_log_sink(nullptr, nullptr);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("port paper cannot reach 10.0.0.2 from 10.0.0.1 (GID index 1)"))
      << lines[0];
  EXPECT_TRUE(lines[1].starts_with("port paper cannot reach 11.0.0.1 from 10.0.0.1 (GID index 1)"))
      << lines[1];
}

TEST_F(RtrTransition, RefusesAPathMtuAboveThePort) {
  bed_.port.port.frame_bytes_max = 1514;
  device().refresh_link();
  QpChange change = rtr();
  change.attributes.path_mtu = PathMtu::k2048;
  EXPECT_EQ(device().modify_qp(qp_, change), -EINVAL);
  change.attributes.path_mtu = static_cast<PathMtu>(0);
  EXPECT_EQ(device().modify_qp(qp_, change), -EINVAL);
  change.attributes.path_mtu = PathMtu::k1024;
  EXPECT_EQ(device().modify_qp(qp_, change), 0);
}

TEST(EndOfAQueuePair, ThatTimedOutIsFinishedByALaterDestroy) {
  TestBedOptions options;
  options.mode = engine::DriveMode::kWorker;
  TestBed bed(options);
  bed.on_clock = [&] { bed.work(); };
  Device& device = bed.device();
  ASSERT_EQ(device.start(), 0);
  Pd* pd = nullptr;
  CqHandle cq;
  QpHandle qp;
  ASSERT_EQ(device.create_pd(pd), 0);
  ASSERT_EQ(device.create_cq(16, nullptr, cq), 0);
  const QpRequest request{
      .capabilities = {4, 4, 2, 2, 64}, .send_cq = cq.object, .recv_cq = cq.object};
  ASSERT_EQ(device.create_qp(*pd, request, qp), 0);
  bed.on_clock = [&] { bed.pass(std::chrono::milliseconds(100)); };
  EXPECT_EQ(device.destroy_qp(qp), -ETIMEDOUT);
  bed.on_clock = [&] { bed.work(); };
  bed.work();
  QpChange now;
  EXPECT_EQ(device.query_qp(qp, now), -EINVAL) << "gone";
  EXPECT_EQ(device.destroy_cq(cq), -EBUSY) << "but not over";
  EXPECT_EQ(device.destroy_qp(qp), 0);
  EXPECT_EQ(device.destroy_cq(cq), 0);
  EXPECT_EQ(device.destroy_pd(*pd), 0);
}

}  // namespace
}  // namespace uroce::device
