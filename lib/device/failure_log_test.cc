// SPDX-License-Identifier: BSD-3-Clause
// Tests of the lines about connections that gave up and peers that cannot be reached: what they
// say, and how often.
#include "device/failure_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "base/log.h"

namespace uroce::device {
namespace {

using testing::HasSubstr;
using testing::Not;
using transport::GaveUp;

GaveUp note() {
  return {.when = Time(Duration(5'000'000)),
          .peer = Gid::from_ipv4(0x0A000002),
          .qpn = Qpn(0xAB12),
          .peer_qpn = Qpn(0x11),
          .psn = Psn(0x105),
          .not_ready = false,
          .retry_count = 3,
          .rnr_retry = 2,
          .timeout = 12};
}

TEST(GaveUpSentence, NamesBothEndsThePsnWhatRanOutAndWhatToLookAt) {  // case 23
  EXPECT_EQ(gave_up_sentence(note()),
            "QP 0x00ab12 to 10.0.0.2 QP 0x000011 gives up at PSN 0x000105, retry_cnt ran out: "
            "no progress after 3 retries (timeout 12: 16.777 ms each); see whether the peer runs, "
            "its queue pair is in RTR and the path carries UDP port 4791, or raise timeout or "
            "retry_cnt");
}

TEST(GaveUpSentence, TellsAPeerThatIsNotReadyFromOneThatIsSilent) {
  GaveUp refused = note();
  refused.not_ready = true;
  EXPECT_EQ(gave_up_sentence(refused),
            "QP 0x00ab12 to 10.0.0.2 QP 0x000011 gives up at PSN 0x000105, rnr_retry ran out: "
            "refused 3 times because the peer had no receive posted; let the peer post receives "
            "earlier or raise its min_rnr_timer, or raise rnr_retry (now 2; 7: without end)");
}

TEST(GaveUpSentence, KnowsASingleRefusalAndAQueuePairWithoutTimer) {
  GaveUp quick = note();
  quick.timeout = 0;
  EXPECT_THAT(gave_up_sentence(quick), HasSubstr("after 3 retries (timeout 0: no timer)"));
  quick.not_ready = true;
  quick.rnr_retry = 0;
  EXPECT_THAT(gave_up_sentence(quick), HasSubstr("refused once because"));
}

// case 73: a wrong GID index is the usual reason, so it is named.
TEST(UnreachableSentence, NamesTheAddressTheEntryAndWhatToLookAt) {
  Unreachable note{.port = "p0",
                   .destination = Gid::from_ipv4(0x0A000002),
                   .source = Gid::from_ipv4(0x0A000001),
                   .sgid_index = 1,
                   .error = -ETIMEDOUT};
  EXPECT_EQ(unreachable_sentence(note),
            "port p0 cannot reach 10.0.0.2 from 10.0.0.1 (GID index 1): no answer to ARP; see "
            "whether that host, or the gateway to it, is up and on this link and VLAN, and whether "
            "another GID index was meant");
  note.error = -EHOSTUNREACH;
  EXPECT_EQ(unreachable_sentence(note),
            "port p0 cannot reach 10.0.0.2 from 10.0.0.1 (GID index 1): there is no route to it; "
            "give the port an address in its network or a gateway, or use the GID index of such an "
            "address");
  note.destination = note.source = Gid{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  note.error = -ETIMEDOUT;
  EXPECT_THAT(unreachable_sentence(note), HasSubstr("fe80::2"));
  EXPECT_THAT(unreachable_sentence(note), HasSubstr("no answer to neighbour discovery"));
}

class FailureLogTest : public testing::Test {
 protected:
  FailureLogTest() {
    set_log_sink(
        [](void* self, LogLevel level, std::string_view sentence) {
          EXPECT_EQ(level, LogLevel::kWarning);
          static_cast<FailureLogTest*>(self)->lines.emplace_back(sentence);
        },
        this);
  }
  ~FailureLogTest() override { set_log_sink(nullptr, nullptr); }
  void fail(uint32_t connections, Duration at) {
    for (uint32_t i = 0; i < connections; ++i) {
      GaveUp one = note();
      one.qpn = Qpn(i);
      one.when = Time(at);
      log.write(one);
    }
  }

  FailureLog log;
  std::vector<std::string> lines;
};

TEST_F(FailureLogTest, EachConnectionHasOneLine) {
  fail(3, Duration(0));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[2], HasSubstr("QP 0x000002 "));
  EXPECT_THAT(lines[2], Not(HasSubstr("not written")));
}

TEST_F(FailureLogTest, ThousandsAtOnceAreCutShortAndTheLastLineSaysSo) {
  fail(5000, Duration(1000));
  ASSERT_EQ(lines.size(), FailureLog::kBurst);
  EXPECT_THAT(lines[FailureLog::kBurst - 2], Not(HasSubstr("not written")));
  EXPECT_THAT(lines[FailureLog::kBurst - 1],
              HasSubstr("more failures within this second are not written"));
  fail(1, Duration(999'999'999));
  EXPECT_EQ(lines.size(), FailureLog::kBurst);
  fail(1, Duration(1000) + FailureLog::kWindow);
  EXPECT_EQ(lines.size(), FailureLog::kBurst + 1);
}

TEST_F(FailureLogTest, BothKindsShareTheLimit) {
  fail(FailureLog::kBurst - 1, Duration(1000));
  for (int i = 0; i < 3; ++i) {
    log.write(Time(Duration(1000)), Unreachable{"p0", {}, {}, 1, -ETIMEDOUT});
  }
  ASSERT_EQ(lines.size(), FailureLog::kBurst);
  EXPECT_THAT(lines.back(), HasSubstr("port p0 cannot reach"));
  EXPECT_THAT(lines.back(), HasSubstr("not written"));
}

TEST_F(FailureLogTest, AClockThatBeginsAnewDoesNotSilenceTheLog) {
  fail(100, Duration(3'600'000'000'000));
  fail(1, Duration(5));
  EXPECT_EQ(lines.size(), FailureLog::kBurst + 1);
}

}  // namespace
}  // namespace uroce::device
