// SPDX-License-Identifier: BSD-3-Clause
// Groups by name: what is read, what is refused with which sentence, and who receives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <uroce/multicast.h>

#include "base/address_text.h"
#include "base/last_error.h"
#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Gid address(const char* text) { return parse_address(text).value(); }

struct Named {
  int result = 0;
  Gid group;
  Gid source;
};

Named parse(const char* text) {
  ib_gid group;
  ib_gid source;
  from_gid(address("1.1.1.1"), group);
  from_gid(address("2.2.2.2"), source);
  const int result = uroce_parse_mcast(text, &group, &source);
  return {result, to_gid(group), to_gid(source)};
}

TEST(GroupName, IsReadInEachForm) {
  const struct {
    const char* text;
    const char* group;
    Gid source;
  } table[] = {
      {"239.1.1.1", "239.1.1.1", {}},
      {"::ffff:239.1.1.1", "239.1.1.1", {}},
      {"00000000000000000000ffffef010101", "239.1.1.1", {}},
      {"ff3e::1", "ff3e::1", {}},
      {"FF3E:0:0:0:0:0:0:1", "ff3e::1", {}},
      {"ff3e0000000000000000000000000001", "ff3e::1", {}},
      {"10.0.0.1@239.1.1.1", "239.1.1.1", address("10.0.0.1")},
      {"fd00::1@ff3e::1", "ff3e::1", address("fd00::1")},
      {"fd000000000000000000000000000001@ff3e::1", "ff3e::1", address("fd00::1")},
  };
  for (const auto& row : table) {
    const Named named = parse(row.text);
    EXPECT_EQ(named.result, 0) << row.text << ": " << last_error();
    EXPECT_EQ(named.group, address(row.group)) << row.text;
    EXPECT_EQ(named.source, row.source) << row.text;
  }
}

TEST(GroupName, ThatIsNoneIsRefusedWithWhatWouldDo) {
  const struct {
    const char* text;
    const char* sentence;
  } table[] = {
      {"", "names no group: write 239.1.1.1, ff3e::1 or"},
      {"239.1.1", "names no group"},
      {"239.1.1.256", "names no group"},
      {" 239.1.1.1", "names no group"},
      {"feed.example.com", "names no group"},
      {"ff02::1%eth0", "names no group"},
      {"ff3e000000000000000000000000001", "names no group"},
      {"10.0.0.1@", "names no group"},
      {"1.1.1.1@2.2.2.2@239.1.1.1", "names no group"},
      {"10.0.0.1", "names 10.0.0.1, which is no group: IPv4 groups are 224.0.0.0 …"},
      {"10.0.0.2@10.0.0.1", "names 10.0.0.1, which is no group"},
      {"fe80::1", "names fe80::1, which is no group"},
      {"@239.1.1.1", "has no IP address before the @"},
      {"exchange@239.1.1.1", "has no IP address before the @"},
      {"10.0.0.1@ff3e::1", "mixes IPv4 and IPv6"},
      {"fd00::1@239.1.1.1", "mixes IPv4 and IPv6"},
      {"239.1.1.2@239.1.1.1", "has a source that no host can be"},
      {"0.0.0.0@239.1.1.1", "has a source that no host can be"},
      {"::@ff3e::1", "has a source that no host can be"},
      {"127.0.0.1@239.1.1.1", "has a source that no host can be"},
      {"::1@ff3e::1", "has a source that no host can be"},
  };
  for (const auto& row : table) {
    const Named named = parse(row.text);
    EXPECT_EQ(named.result, -EINVAL) << row.text;
    EXPECT_THAT(last_error(), StartsWith("\"" + std::string(row.text) + "\" " + row.sentence));
    EXPECT_EQ(named.group, address("1.1.1.1")) << row.text;
    EXPECT_EQ(named.source, address("2.2.2.2")) << row.text;
  }
}

TEST(GroupName, IsRepeatedInOneShortLine) {
  EXPECT_EQ(parse(std::string(3'000'000, 'a').c_str()).result, -EINVAL);
  EXPECT_THAT(last_error(), StartsWith("\"" + std::string(64, 'a') + "…\" names no group"));
  EXPECT_EQ(parse("\x1b[2J\n239.1.1.1\xff").result, -EINVAL);
  EXPECT_THAT(last_error(), StartsWith("\"\\x1b[2J\\n239.1.1.1\\xff\" names no group"));
}

TEST(GroupName, WithoutAPlaceForASourceHasNone) {
  ib_gid group{};
  EXPECT_EQ(uroce_parse_mcast("ff3e::1", &group, nullptr), 0);
  EXPECT_EQ(to_gid(group), address("ff3e::1"));
  EXPECT_EQ(uroce_parse_mcast("10.0.0.1@239.1.1.1", &group, nullptr), -EINVAL);
  EXPECT_THAT(last_error(), HasSubstr("name the group alone"));
  EXPECT_EQ(to_gid(group), address("ff3e::1"));
}

class JoinTest : public FaceTest {
 protected:
  explicit JoinTest(const device::TestBedOptions& options = {})
      : FaceTest(options), sender_(make(IB_QPT_UD)), member_(make(IB_QPT_UD)) {
    bring_to(sender_, IB_QPS_RTS);
    bring_to(member_, IB_QPS_RTR);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(post_recv(member_, memory_.data() + 4096, 1024, 100), 0);
    }
  }
  // How many copies of a message to a group the member gets.
  size_t received(const char* group) {
    const Gid to = address(group);
    EXPECT_EQ(
        post_datagram(sender_, handle_to(to, to.is_ipv4() ? 1 : 2), 0x55, memory_.data(), 64, 1, 0),
        0);
    size_t count = 0;
    for (const ib_wc& wc : settle_and_poll()) count += wc.qp == member_ ? 1 : 0;
    return count;
  }
  int join(const char* text) { return uroce_join_mcast(member_, text); }
  int leave(const char* text) { return uroce_leave_mcast(member_, text); }

  ib_qp* const sender_;
  ib_qp* const member_;
};

TEST_F(JoinTest, AMemberByNameReceivesUntilItLeaves) {
  EXPECT_EQ(received("239.1.2.3"), 0u);
  ASSERT_EQ(join("239.1.2.3"), 0);
  EXPECT_EQ(join("::ffff:239.1.2.3"), 0) << "it is one already";
  EXPECT_EQ(received("239.1.2.3"), 1u);
  ASSERT_EQ(join("ff0e::1:2"), 0);
  EXPECT_EQ(received("ff0e::1:2"), 1u);
  EXPECT_EQ(leave("ff0e0000000000000000000000010002"), 0);
  EXPECT_EQ(received("ff0e::1:2"), 0u);
  EXPECT_EQ(leave("239.1.2.3"), 0);
  EXPECT_EQ(received("239.1.2.3"), 0u);
}

TEST_F(JoinTest, AMemberByNameWithASourceHearsThatSourceOnly) {
  ASSERT_EQ(join("10.0.0.238@239.1.2.3"), 0);
  EXPECT_EQ(received("239.1.2.3"), 0u);
  ASSERT_EQ(join("10.0.0.1@239.1.2.3"), 0);
  EXPECT_EQ(received("239.1.2.3"), 1u);
  ASSERT_EQ(leave("10.0.0.1@239.1.2.3"), 0);
  EXPECT_EQ(received("239.1.2.3"), 0u);
  EXPECT_EQ(leave("239.1.2.3"), 0) << "with all its sources";
  EXPECT_EQ(leave("10.0.0.238@239.1.2.3"), -EINVAL);
}

TEST_F(JoinTest, EachErrorHasItsSentence) {
  EXPECT_EQ(join("10.0.0.1"), -EINVAL);
  EXPECT_THAT(last_error(), StartsWith("\"10.0.0.1\" names 10.0.0.1, which is no group"));
  EXPECT_EQ(leave("239.1.2.3"), -EINVAL);
  EXPECT_STREQ(last_error(), "\"239.1.2.3\" cannot be left: the queue pair is no member");
  ib_qp* rc = make(IB_QPT_RC);
  EXPECT_EQ(uroce_join_mcast(rc, "239.1.2.3"), -EINVAL);
  EXPECT_STREQ(last_error(),
               "\"239.1.2.3\" cannot be joined: only a queue pair of type IB_QPT_UD can be a "
               "member");
  ASSERT_EQ(join("239.1.2.3"), 0);
  EXPECT_EQ(join("10.0.0.1@239.1.2.3"), -EINVAL);
  EXPECT_THAT(last_error(), HasSubstr("is a member of every source"));
  EXPECT_EQ(leave("10.0.0.1@239.1.2.3"), -EINVAL);
  EXPECT_THAT(last_error(), HasSubstr("is no member by source"));
  ASSERT_EQ(leave("239.1.2.3"), 0);
  ASSERT_EQ(join("10.0.0.1@239.1.2.3"), 0);
  EXPECT_EQ(join("239.1.2.3"), -EADDRINUSE);
  EXPECT_THAT(last_error(), HasSubstr("is a member by source: leave"));
  EXPECT_EQ(leave("10.0.0.2@239.1.2.3"), -EADDRNOTAVAIL);
  EXPECT_THAT(last_error(), HasSubstr("is a member by other sources"));
  ASSERT_EQ(leave("239.1.2.3"), 0);
}

class SharedJoinTest : public JoinTest {
 protected:
  SharedJoinTest()
      : JoinTest({.limits = {.group_max = 2, .group_qp_max = 1, .source_max = 1},
                  .shared_port = true}) {}
  std::string told(const char* text, int error, const char* sentence) {
    set_last_error("of an earlier call");
    bed_.port.join_error = error;
    bed_.port.join_sentence = sentence;
    EXPECT_EQ(join(text), error);
    bed_.port.join_error = 0;
    return last_error();
  }
};

TEST_F(SharedJoinTest, WhatThePortSaysIsTheCause) {
  EXPECT_EQ(told("239.1.2.3", -EMFILE, "port paper: raise ulimit -n"),
            "\"239.1.2.3\" cannot be joined: port paper: raise ulimit -n");
  EXPECT_EQ(told("10.0.0.1@239.1.2.3", -ENOMEM, "raise optmem_max"),
            "\"10.0.0.1@239.1.2.3\" cannot be joined: raise optmem_max");
  EXPECT_EQ(told("239.1.2.3", -ENOMEM, ""),
            "\"239.1.2.3\" cannot be joined: Cannot allocate memory");
  EXPECT_EQ(told("239.1.2.3", -EINVAL, ""), "\"239.1.2.3\" cannot be joined: Invalid argument");
}

TEST_F(SharedJoinTest, OnlyALimitOfTheDevicesIsNamedAsOne) {
  ib_qp* second = make(IB_QPT_UD);
  ASSERT_EQ(join("10.0.0.9@239.1.2.3"), 0);
  EXPECT_EQ(join("10.0.0.8@239.1.2.3"), -ENOMEM);
  EXPECT_STREQ(last_error(),
               "\"10.0.0.8@239.1.2.3\" cannot be joined: a limit is reached: raise "
               "--limit multicast_sources");
  EXPECT_EQ(uroce_join_mcast(second, "239.1.2.3"), -ENOMEM);
  EXPECT_THAT(last_error(), HasSubstr("raise --limit members_per_group"));
  ASSERT_EQ(join("239.1.2.4"), 0);
  EXPECT_EQ(join("239.1.2.5"), -ENOMEM);
  EXPECT_THAT(last_error(), HasSubstr("raise --limit multicast_groups"));
  ASSERT_EQ(leave("239.1.2.3"), 0);
  ASSERT_EQ(leave("239.1.2.4"), 0);
}

}  // namespace
}  // namespace uroce::verbs
