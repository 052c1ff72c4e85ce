// SPDX-License-Identifier: BSD-3-Clause
// Tests of the words for group filters.
#include "observe/group_filter.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace uroce::observe {
namespace {

TEST(GroupFilterText, every_kind_has_words_of_its_own) {
  std::set<std::string> texts;
  for (const auto kind : {device::FilterKind::kNone, device::FilterKind::kPortList,
                          device::FilterKind::kKernelMembership, device::FilterKind::kKernelGroup,
                          device::FilterKind::kAllMulticast}) {
    texts.insert(group_filter_text(kind));
  }
  EXPECT_EQ(texts.size(), 5u);
  EXPECT_FALSE(texts.contains("unknown"));
  EXPECT_STREQ(group_filter_text(static_cast<device::FilterKind>(99)), "unknown");
}

}  // namespace
}  // namespace uroce::observe
