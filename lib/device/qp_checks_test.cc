// SPDX-License-Identifier: BSD-3-Clause
// Tests of the checks on a queue pair's change.
#include "device/qp_checks.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "transport/qp_context.h"

namespace uroce::device {
namespace {

using transport::QpAttributes;
using transport::QpState;
using transport::QpType;

int values(uint32_t mask, const QpAttributes& attributes) {
  return check_attribute_values(attributes, mask, PathMtu::k1024);
}

TEST(QpChecks, EveryRangeHasItsEnd) {
  QpAttributes a;
  a.timeout = 31;
  a.retry_count = a.rnr_retry = 7;
  a.min_rnr_timer = 31;
  a.rd_atomic_max = a.dest_rd_atomic_max = transport::kReadAtomicMax;
  a.path_mtu = PathMtu::k1024;
  a.access = 31 | memory::kFlushGlobal | memory::kFlushPersistent;
  const uint32_t mask = kAttrMaskAll & ~(transport::kAttrAltPath | transport::kAttrPathMigState |
                                         transport::kAttrCap);
  EXPECT_EQ(values(mask, a), 0);
  EXPECT_EQ(values(mask | transport::kAttrAltPath, a), -EINVAL);
  EXPECT_EQ(values(mask | transport::kAttrCap, a), -EINVAL);
  const auto refused = [&](auto change) {
    QpAttributes wrong = a;
    change(wrong);
    return values(mask, wrong) == -EINVAL && values(transport::kAttrState, wrong) == 0;
  };
  EXPECT_TRUE(refused([](QpAttributes& w) { w.timeout = 32; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.retry_count = 8; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.rnr_retry = 8; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.min_rnr_timer = 32; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.rd_atomic_max = transport::kReadAtomicMax + 1; }));
  EXPECT_TRUE(
      refused([](QpAttributes& w) { w.dest_rd_atomic_max = transport::kReadAtomicMax + 1; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.path_mtu = PathMtu::k2048; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.path_mtu = static_cast<PathMtu>(0); }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.port = 0; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.port = 2; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.pkey_index = 1; }));
  EXPECT_TRUE(refused([](QpAttributes& w) { w.access = 64; }));
}

TEST(QpChecks, WithoutAStateInTheMaskTheTableIsAskedForStaying) {
  QpAttributes a;
  EXPECT_EQ(check_transition(a, transport::kAttrQkey, QpType::kUd, QpState::kRts), 0);
  EXPECT_EQ(check_transition(a, transport::kAttrQkey, QpType::kUd, QpState::kRtr), -EINVAL);
}

TEST(QpChecks, ACurrentStateThatIsNotTheStateIsRefused) {
  QpAttributes a;
  a.state = QpState::kRts;
  a.current_state = QpState::kRts;
  const uint32_t mask = transport::kAttrState | transport::kAttrCurState;
  EXPECT_EQ(check_transition(a, mask, QpType::kRc, QpState::kRts), 0);
  EXPECT_EQ(check_transition(a, mask, QpType::kRc, QpState::kSqd), -EINVAL);
  a.state = static_cast<QpState>(7);
  EXPECT_EQ(check_transition(a, transport::kAttrState, QpType::kRc, QpState::kRts), -EINVAL);
}

}  // namespace
}  // namespace uroce::device
