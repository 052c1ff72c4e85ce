// SPDX-License-Identifier: BSD-3-Clause
// Sentences: the first and last of each table are where they belong, and nothing lies beyond.
#include <gtest/gtest.h>
#include <uroce/ib_verbs.h>

namespace {

TEST(Messages, EventsHaveNames) {
  EXPECT_STREQ(ib_event_msg(IB_EVENT_CQ_ERR), "CQ error");
  EXPECT_STREQ(ib_event_msg(IB_EVENT_PORT_ACTIVE), "port active");
  EXPECT_STREQ(ib_event_msg(IB_EVENT_WQ_FATAL), "WQ fatal error");
  EXPECT_STREQ(ib_event_msg(static_cast<ib_event_type>(20)), "unknown event");
}

TEST(Messages, StatusesHaveNames) {
  EXPECT_STREQ(ib_wc_status_msg(IB_WC_SUCCESS), "success");
  EXPECT_STREQ(ib_wc_status_msg(IB_WC_RNR_RETRY_EXC_ERR), "RNR retry counter exceeded");
  EXPECT_STREQ(ib_wc_status_msg(IB_WC_GENERAL_ERR), "general error");
  EXPECT_STREQ(ib_wc_status_msg(static_cast<ib_wc_status>(22)), "unknown status");
}

}  // namespace
