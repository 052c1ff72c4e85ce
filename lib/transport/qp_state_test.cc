// SPDX-License-Identifier: BSD-3-Clause
// The state machine: every transition, type and attribute against a second copy of the table, and
// what each transition does.
#include "transport/qp_state.h"

#include <cerrno>

#include "transport/error_class.h"
#include "transport/qp_fixture.h"

namespace uroce::transport {
namespace {

constexpr QpType kTypes[] = {QpType::kSmi, QpType::kGsi,    QpType::kRc,    QpType::kUc,
                             QpType::kUd,  QpType::kXrcIni, QpType::kXrcTgt};
constexpr uint32_t kStates = 7;

// The table as numbers: required and optional masks.
struct Row {
  QpState from;
  QpState to;
  QpType type;
  uint32_t required;
  uint32_t optional;
};
constexpr Row kRows[] = {
    {QpState::kReset, QpState::kInit, QpType::kUd, 0x70, 0x0},
    {QpState::kReset, QpState::kInit, QpType::kUc, 0x38, 0x0},
    {QpState::kReset, QpState::kInit, QpType::kRc, 0x38, 0x0},
    {QpState::kReset, QpState::kInit, QpType::kXrcIni, 0x38, 0x0},
    {QpState::kReset, QpState::kInit, QpType::kXrcTgt, 0x38, 0x0},
    {QpState::kReset, QpState::kInit, QpType::kSmi, 0x50, 0x0},
    {QpState::kReset, QpState::kInit, QpType::kGsi, 0x50, 0x0},
    {QpState::kInit, QpState::kInit, QpType::kUd, 0x0, 0x70},
    {QpState::kInit, QpState::kInit, QpType::kUc, 0x0, 0x38},
    {QpState::kInit, QpState::kInit, QpType::kRc, 0x0, 0x38},
    {QpState::kInit, QpState::kInit, QpType::kXrcIni, 0x0, 0x38},
    {QpState::kInit, QpState::kInit, QpType::kXrcTgt, 0x0, 0x38},
    {QpState::kInit, QpState::kInit, QpType::kSmi, 0x0, 0x50},
    {QpState::kInit, QpState::kInit, QpType::kGsi, 0x0, 0x50},
    {QpState::kInit, QpState::kRtr, QpType::kUd, 0x0, 0x50},
    {QpState::kInit, QpState::kRtr, QpType::kUc, 0x101180, 0x4018},
    {QpState::kInit, QpState::kRtr, QpType::kRc, 0x129180, 0x4018},
    {QpState::kInit, QpState::kRtr, QpType::kXrcIni, 0x101180, 0x4018},
    {QpState::kInit, QpState::kRtr, QpType::kXrcTgt, 0x129180, 0x4018},
    {QpState::kInit, QpState::kRtr, QpType::kSmi, 0x0, 0x50},
    {QpState::kInit, QpState::kRtr, QpType::kGsi, 0x0, 0x50},
    {QpState::kRtr, QpState::kRts, QpType::kUd, 0x10000, 0x42},
    {QpState::kRtr, QpState::kRts, QpType::kUc, 0x10000, 0x4400a},
    {QpState::kRtr, QpState::kRts, QpType::kRc, 0x12e00, 0x4c00a},
    {QpState::kRtr, QpState::kRts, QpType::kXrcIni, 0x12e00, 0x4400a},
    {QpState::kRtr, QpState::kRts, QpType::kXrcTgt, 0x10200, 0x4c00a},
    {QpState::kRtr, QpState::kRts, QpType::kSmi, 0x10000, 0x42},
    {QpState::kRtr, QpState::kRts, QpType::kGsi, 0x10000, 0x42},
    {QpState::kRts, QpState::kRts, QpType::kUd, 0x0, 0x42},
    {QpState::kRts, QpState::kRts, QpType::kUc, 0x0, 0x4400a},
    {QpState::kRts, QpState::kRts, QpType::kRc, 0x0, 0x4c00a},
    {QpState::kRts, QpState::kRts, QpType::kXrcIni, 0x0, 0x4400a},
    {QpState::kRts, QpState::kRts, QpType::kXrcTgt, 0x0, 0x4c00a},
    {QpState::kRts, QpState::kRts, QpType::kSmi, 0x0, 0x42},
    {QpState::kRts, QpState::kRts, QpType::kGsi, 0x0, 0x42},
    {QpState::kRts, QpState::kSqd, QpType::kUd, 0x0, 0x4},
    {QpState::kRts, QpState::kSqd, QpType::kUc, 0x0, 0x4},
    {QpState::kRts, QpState::kSqd, QpType::kRc, 0x0, 0x4},
    {QpState::kRts, QpState::kSqd, QpType::kXrcIni, 0x0, 0x4},
    {QpState::kRts, QpState::kSqd, QpType::kXrcTgt, 0x0, 0x4},
    {QpState::kRts, QpState::kSqd, QpType::kSmi, 0x0, 0x4},
    {QpState::kRts, QpState::kSqd, QpType::kGsi, 0x0, 0x4},
    {QpState::kSqd, QpState::kRts, QpType::kUd, 0x0, 0x42},
    {QpState::kSqd, QpState::kRts, QpType::kUc, 0x0, 0x4400a},
    {QpState::kSqd, QpState::kRts, QpType::kRc, 0x0, 0x4c00a},
    {QpState::kSqd, QpState::kRts, QpType::kXrcIni, 0x0, 0x4400a},
    {QpState::kSqd, QpState::kRts, QpType::kXrcTgt, 0x0, 0x4c00a},
    {QpState::kSqd, QpState::kRts, QpType::kSmi, 0x0, 0x42},
    {QpState::kSqd, QpState::kRts, QpType::kGsi, 0x0, 0x42},
    {QpState::kSqd, QpState::kSqd, QpType::kUd, 0x0, 0x50},
    {QpState::kSqd, QpState::kSqd, QpType::kUc, 0x0, 0x44098},
    {QpState::kSqd, QpState::kSqd, QpType::kRc, 0x0, 0x6eeb8},
    {QpState::kSqd, QpState::kSqd, QpType::kXrcIni, 0x0, 0x46eb8},
    {QpState::kSqd, QpState::kSqd, QpType::kXrcTgt, 0x0, 0x6c2b8},
    {QpState::kSqd, QpState::kSqd, QpType::kSmi, 0x0, 0x50},
    {QpState::kSqd, QpState::kSqd, QpType::kGsi, 0x0, 0x50},
    {QpState::kSqe, QpState::kRts, QpType::kUd, 0x0, 0x42},
    {QpState::kSqe, QpState::kRts, QpType::kUc, 0x0, 0xa},
    {QpState::kSqe, QpState::kRts, QpType::kSmi, 0x0, 0x42},
    {QpState::kSqe, QpState::kRts, QpType::kGsi, 0x0, 0x42},
    {QpState::kReset, QpState::kInit, QpType::kXrcIni, 0x38, 0x0},
    {QpState::kReset, QpState::kInit, QpType::kXrcTgt, 0x38, 0x0},
    {QpState::kInit, QpState::kInit, QpType::kXrcIni, 0x0, 0x38},
    {QpState::kInit, QpState::kInit, QpType::kXrcTgt, 0x0, 0x38},
    {QpState::kInit, QpState::kRtr, QpType::kXrcIni, 0x101180, 0x4018},
    {QpState::kInit, QpState::kRtr, QpType::kXrcTgt, 0x129180, 0x4018},
    {QpState::kRtr, QpState::kRts, QpType::kXrcIni, 0x12e00, 0x4400a},
    {QpState::kRtr, QpState::kRts, QpType::kXrcTgt, 0x10200, 0x4c00a},
    {QpState::kRts, QpState::kRts, QpType::kXrcIni, 0x0, 0x4400a},
    {QpState::kRts, QpState::kRts, QpType::kXrcTgt, 0x0, 0x4c00a},
    {QpState::kRts, QpState::kSqd, QpType::kXrcIni, 0x0, 0x4},
    {QpState::kRts, QpState::kSqd, QpType::kXrcTgt, 0x0, 0x4},
    {QpState::kSqd, QpState::kRts, QpType::kXrcIni, 0x0, 0x4400a},
    {QpState::kSqd, QpState::kRts, QpType::kXrcTgt, 0x0, 0x4c00a},
    {QpState::kSqd, QpState::kSqd, QpType::kXrcIni, 0x0, 0x46eb8},
    {QpState::kSqd, QpState::kSqd, QpType::kXrcTgt, 0x0, 0x6c2b8},
};

// Transitions that exist, row by row: from RESET, INIT, RTR, RTS, SQD, SQE, ERR.
constexpr const char* kExists[kStates] = {
    "yy.....", "yyy...y", "y..y..y", "y..yy.y", "y..yy.y", "y..y..y", "y.....y",
};

Row row_of(QpState from, QpState to, QpType type) {
  for (const Row& row : kRows) {
    if (row.from == from && row.to == to && row.type == type) return row;
  }
  return {from, to, type, 0, 0};
}

bool claimable(QpState state) {
  return state == QpState::kRtr || state == QpState::kRts || state == QpState::kSqd ||
         state == QpState::kSqe;
}

// Every mask of interest for one transition that exists.
void check_masks(const Row& row) {
  const auto allowed = [&](uint32_t mask) {
    return modify_allowed(row.from, row.to, row.type, mask);
  };
  const uint32_t base = row.required | kAttrState;
  EXPECT_TRUE(allowed(base));
  EXPECT_TRUE(allowed(base | row.optional));
  EXPECT_TRUE(allowed(row.required)) << "STATE is never required";
  for (uint32_t i = 1; i < 32; ++i) {
    const uint32_t bit = 1u << i;
    if ((row.required & bit) != 0) {
      EXPECT_FALSE(allowed(base & ~bit)) << i;
    } else {
      const bool fits = (row.optional & bit) != 0 && (bit != kAttrCurState || claimable(row.from));
      EXPECT_EQ(allowed(base | bit), fits) << i;
    }
  }
  EXPECT_FALSE(allowed(base | kAttrCap));
}

TEST(QpStateTable, EveryTransitionTypeAndAttributeAsInTheTable) {
  for (uint32_t from = 0; from < kStates; ++from) {
    for (uint32_t to = 0; to < kStates; ++to) {
      for (const QpType type : kTypes) {
        SCOPED_TRACE(testing::Message() << from << " to " << to << " type " << int(type));
        const Row row = row_of(QpState(from), QpState(to), type);
        if (kExists[from][to] == 'y') {
          check_masks(row);
          continue;
        }
        for (const uint32_t mask : {0u, 1u, 0x39u, 0x71u, 0x129181u, 0x12e01u, 0x1FFFFFu}) {
          EXPECT_FALSE(modify_allowed(QpState(from), QpState(to), type, mask));
        }
      }
    }
  }
}

TEST(QpStateTable, KnownAnswers) {
  struct Vector {
    const char* name;
    QpState current;
    QpState next;
    QpType type;
    uint32_t mask;
    bool allowed;
  };
  constexpr Vector kVectors[] = {
      {"OK-01", QpState::kReset, QpState::kInit, QpType::kRc, 0x39, true},
      {"OK-02", QpState::kReset, QpState::kInit, QpType::kRc, 0x31, false},
      {"OK-03", QpState::kReset, QpState::kInit, QpType::kUd, 0x71, true},
      {"OK-04", QpState::kReset, QpState::kInit, QpType::kUd, 0x39, false},
      {"OK-05", QpState::kReset, QpState::kInit, QpType::kGsi, 0x51, true},
      {"OK-06", QpState::kReset, QpState::kInit, QpType::kGsi, 0x71, false},
      {"OK-07", QpState::kReset, QpState::kRtr, QpType::kRc, 0x129181, false},
      {"OK-08", QpState::kReset, QpState::kErr, QpType::kRc, 0x1, false},
      {"OK-09", QpState::kInit, QpState::kInit, QpType::kRc, 0x39, true},
      {"OK-10", QpState::kInit, QpState::kInit, QpType::kRc, 0x1, true},
      {"OK-11", QpState::kInit, QpState::kRtr, QpType::kRc, 0x129181, true},
      {"OK-12", QpState::kInit, QpState::kRtr, QpType::kRc, 0x129180, true},
      {"OK-13", QpState::kInit, QpState::kRtr, QpType::kRc, 0x109181, false},
      {"OK-14", QpState::kInit, QpState::kRtr, QpType::kUc, 0x101181, true},
      {"OK-15", QpState::kInit, QpState::kRtr, QpType::kUc, 0x129181, false},
      {"OK-16", QpState::kInit, QpState::kRtr, QpType::kUd, 0x1, true},
      {"OK-17", QpState::kInit, QpState::kRtr, QpType::kUd, 0x51, true},
      {"OK-18", QpState::kInit, QpState::kRtr, QpType::kUd, 0x101181, false},
      {"OK-19", QpState::kInit, QpState::kRtr, QpType::kRc, 0x2129181, false},
      {"OK-20", QpState::kRtr, QpState::kRtr, QpType::kRc, 0x1, false},
      {"OK-21", QpState::kRtr, QpState::kRts, QpType::kRc, 0x12e01, true},
      {"OK-22", QpState::kRtr, QpState::kRts, QpType::kRc, 0x12e03, true},
      {"OK-23", QpState::kRtr, QpState::kRts, QpType::kRc, 0x12c01, false},
      {"OK-24", QpState::kRtr, QpState::kRts, QpType::kUc, 0x10001, true},
      {"OK-25", QpState::kRtr, QpState::kRts, QpType::kUd, 0x10001, true},
      {"OK-26", QpState::kRtr, QpState::kRts, QpType::kUd, 0x10043, true},
      {"OK-27", QpState::kRtr, QpState::kRts, QpType::kUd, 0x12e01, false},
      {"OK-28", QpState::kRtr, QpState::kRts, QpType::kRc, 0x2012e01, false},
      {"OK-29", QpState::kRts, QpState::kRts, QpType::kRc, 0x1, true},
      {"OK-30", QpState::kRts, QpState::kRts, QpType::kRc, 0x800b, true},
      {"OK-31", QpState::kRts, QpState::kRts, QpType::kUd, 0x41, true},
      {"OK-32", QpState::kRts, QpState::kRts, QpType::kUd, 0x9, false},
      {"OK-33", QpState::kRts, QpState::kSqd, QpType::kRc, 0x1, true},
      {"OK-34", QpState::kRts, QpState::kSqd, QpType::kRc, 0x5, true},
      {"OK-35", QpState::kRts, QpState::kSqe, QpType::kUd, 0x1, false},
      {"OK-36", QpState::kRts, QpState::kErr, QpType::kRc, 0x1, true},
      {"OK-37", QpState::kRts, QpState::kErr, QpType::kRc, 0x41, false},
      {"OK-38", QpState::kRts, QpState::kReset, QpType::kRc, 0x1, true},
      {"OK-39", QpState::kRts, QpState::kInit, QpType::kRc, 0x39, false},
      {"OK-40", QpState::kSqd, QpState::kSqd, QpType::kRc, 0x6eeb9, true},
      {"OK-41", QpState::kSqd, QpState::kRts, QpType::kRc, 0x1, true},
      {"OK-42", QpState::kSqd, QpState::kSqd, QpType::kUd, 0x51, true},
      {"OK-43", QpState::kSqe, QpState::kRts, QpType::kUd, 0x1, true},
      {"OK-44", QpState::kSqe, QpState::kRts, QpType::kUd, 0x43, true},
      {"OK-45", QpState::kSqe, QpState::kRts, QpType::kRc, 0x1, true},
      {"OK-46", QpState::kSqe, QpState::kRts, QpType::kRc, 0x9, false},
      {"OK-47", QpState::kErr, QpState::kReset, QpType::kRc, 0x1, true},
      {"OK-48", QpState::kErr, QpState::kInit, QpType::kRc, 0x39, false},
      {"OK-49", QpState::kErr, QpState::kErr, QpType::kUd, 0x1, true},
      {"OK-50", QpState::kInit, QpState::kRtr, QpType::kRc, 0x129183, false},
      {"OK-51", QpState::kRts, QpState::kRts, QpType::kRc, 0x80001, false},
  };
  for (const Vector& v : kVectors) {
    EXPECT_EQ(modify_allowed(v.current, v.next, v.type, v.mask), v.allowed) << v.name;
  }
}

class QpStateTest : public QpFixture {
 protected:
  static constexpr uint32_t kToInit = kAttrState | kAttrPkeyIndex | kAttrPort | kAttrAccessFlags;
  static constexpr uint32_t kToRtr = 0x129181;
  static constexpr uint32_t kToRts = 0x12e01;
  QpStateTest() { put_state(QpState::kReset); }
  int modify(QpState state, uint32_t mask) {
    QpAttributes a = wanted;
    a.state = state;
    return apply_modify(*qp, env, a, mask);
  }
  void to_rts() {
    wanted = qp->attributes;
    wanted.rq_psn = Psn(0xFFFFF0);
    wanted.sq_psn = Psn(0xABCDEF);
    wanted.retry_count = 5;
    wanted.rnr_retry = 6;
    wanted.path_mtu = PathMtu::k2048;
    ASSERT_EQ(modify(QpState::kInit, kToInit), 0);
    ASSERT_EQ(modify(QpState::kRtr, kToRtr), 0);
    ASSERT_EQ(modify(QpState::kRts, kToRts), 0);
  }
  QpAttributes wanted;
};

TEST_F(QpStateTest, ARefusedModifyChangesNothing) {
  wanted.access = memory::kRemoteAtomic;
  wanted.port = 9;
  const uint32_t access = qp->attributes.access;
  EXPECT_EQ(modify(QpState::kInit, kToInit & ~kAttrPort), -EINVAL);
  EXPECT_EQ(modify(QpState::kRtr, kToRtr), -EINVAL);
  EXPECT_EQ(qp->state, QpState::kReset);
  EXPECT_EQ(qp->attributes.access, access);
  EXPECT_EQ(qp->attributes.port, 1);
}

TEST_F(QpStateTest, TheWayToRtsSetsPsnsCountersAndTheWordOfThePosters) {
  to_rts();
  EXPECT_EQ(qp->state, QpState::kRts);
  EXPECT_EQ(qp->queues->state_word.load(), QpState::kRts);
  EXPECT_EQ(qp->resp.expected_psn, Psn(0xFFFFF0));
  EXPECT_EQ(qp->req.next_psn, Psn(0xABCDEF));
  EXPECT_EQ(qp->req.max_psn, Psn(0xABCDEF));
  EXPECT_EQ(qp->req.unacked_psn, Psn(0xABCDEF));
  EXPECT_EQ(qp->req.retry_left, 5);
  EXPECT_EQ(qp->req.rnr_left, 6);
  EXPECT_EQ(qp->mtu_bytes, 2048u);
  const QpAttributes now = query_attributes(*qp);
  EXPECT_EQ(now.state, QpState::kRts);
  EXPECT_EQ(now.current_state, QpState::kRts);
  EXPECT_EQ(now.path_mtu, PathMtu::k2048);
  EXPECT_EQ(now.dest_qpn, kPeerQpn);
}

TEST_F(QpStateTest, QueryTellsThePsnsOfNow) {
  to_rts();
  qp->mtu_bytes = 1024;
  post_recv(0, 64);
  request({.psn = Psn(0xFFFFF0), .payload = pattern(4)});
  EXPECT_EQ(query_attributes(*qp).rq_psn, Psn(0xFFFFF1));
  EXPECT_EQ(query_attributes(*qp).sq_psn, Psn(0xABCDEF));
}

TEST_F(QpStateTest, AttributesThatAreNotNamedStay) {
  to_rts();
  wanted.access = 0;
  wanted.min_rnr_timer = 30;
  EXPECT_EQ(modify(QpState::kRts, kAttrState | kAttrMinRnrTimer), 0);
  EXPECT_EQ(qp->attributes.min_rnr_timer, 30);
  EXPECT_NE(qp->attributes.access, 0u);
  EXPECT_EQ(modify(QpState::kRts, kAttrAccessFlags), 0) << "STATE is not needed to stay";
  EXPECT_EQ(qp->attributes.access, 0u);
}

TEST_F(QpStateTest, AClaimOfAnotherStateIsRefused) {
  to_rts();
  enter_error(*qp, env);
  wanted.current_state = QpState::kRts;
  EXPECT_EQ(modify(QpState::kRts, kAttrState | kAttrCurState), -EINVAL);
  EXPECT_EQ(qp->state, QpState::kErr);
  put_state(QpState::kRts);
  EXPECT_EQ(modify(QpState::kRts, kAttrState | kAttrCurState), 0);
  wanted.current_state = QpState::kSqd;
  EXPECT_EQ(modify(QpState::kRts, kAttrState | kAttrCurState), -EINVAL);
}

TEST_F(QpStateTest, ToErrorFlushesBothQueuesInOrder) {
  to_rts();
  for (uint64_t i = 0; i < 3; ++i) {
    post_recv(0, 8, i);
    SendRequest s;
    s.wr_id = i;
    s.flags = 0;
    post_send(s);
  }
  EXPECT_EQ(modify(QpState::kErr, kAttrState), 0);
  EXPECT_EQ(qp->state, QpState::kErr);
  for (const auto& done : {send_completions(), recv_completions()}) {
    ASSERT_EQ(done.size(), 3u);
    for (uint64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(done[i].wr_id, i);
      EXPECT_EQ(done[i].status, WcStatus::kWrFlushErr);
    }
  }
  EXPECT_TRUE(events().empty()) << "a modify to ERR raises no event";
  EXPECT_EQ(modify(QpState::kErr, kAttrState), 0);
}

TEST_F(QpStateTest, ToResetEmptiesTheQueuesInSilenceAndStartsAfresh) {
  to_rts();
  qp->mtu_bytes = 1024;
  post_recv(0, 64);
  post_recv(0, 64);
  request({.psn = Psn(0xFFFFF0), .payload = pattern(4)});
  request({.psn = Psn(0xFFFFF5), .payload = pattern(4)});
  EXPECT_EQ(modify(QpState::kReset, kAttrState), 0);
  EXPECT_EQ(qp->queues->state_word.load(), QpState::kReset);
  EXPECT_EQ(recv_completions().size(), 1u) << "what was there stays, nothing is added";
  EXPECT_TRUE(responses().empty());
  to_rts();
  qp->mtu_bytes = 1024;
  request({.psn = Psn(0xFFFFF0), .payload = pattern(4)});
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].aeth().syndrome, 0x20 | 12) << "the second receive is gone as well";
  EXPECT_EQ(out[0].aeth().msn, 0u);
}

TEST_F(QpStateTest, DrainedQueueRaisesItsEventOnceAndOnlyWhenAskedFor) {
  to_rts();
  wanted.sqd_async_notify = true;
  EXPECT_EQ(modify(QpState::kSqd, kAttrState | kAttrEnSqdAsyncNotify), 0);
  EXPECT_EQ(events(), std::vector<EventType>{EventType::kSqDrained});
  EXPECT_FALSE(query_attributes(*qp).sq_draining);
  raise_if_drained(*qp, env);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(modify(QpState::kRts, kAttrState), 0);
  wanted.sqd_async_notify = false;
  EXPECT_EQ(modify(QpState::kSqd, kAttrState | kAttrEnSqdAsyncNotify), 0);
  EXPECT_TRUE(events().empty());
}

TEST_F(QpStateTest, SqdChangesRetriesAndReloadsThem) {
  to_rts();
  EXPECT_EQ(modify(QpState::kSqd, kAttrState), 0);
  wanted.retry_count = 2;
  wanted.timeout = 9;
  EXPECT_EQ(modify(QpState::kSqd, kAttrState | kAttrRetryCnt | kAttrTimeout), 0);
  EXPECT_EQ(qp->req.retry_left, 2);
  EXPECT_EQ(qp->attributes.timeout, 9);
  EXPECT_EQ(modify(QpState::kRts, kAttrState), 0);
  EXPECT_EQ(qp->state, QpState::kRts);
}

}  // namespace
}  // namespace uroce::transport
