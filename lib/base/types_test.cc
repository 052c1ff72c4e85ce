// SPDX-License-Identifier: BSD-3-Clause
// Serial arithmetic of PSNs and the address predicates of GIDs.
#include "base/types.h"

#include <gtest/gtest.h>

namespace uroce {
namespace {

// PSN-01 … PSN-06: later means 1 … 2^23-1 ahead, modulo 2^24.
TEST(Psn, ComparesBySerialArithmetic) {
  EXPECT_EQ(Psn(5).distance_from(Psn(5)), 0);
  EXPECT_TRUE(Psn(0x000000).after(Psn(0xFFFFFF)));
  EXPECT_TRUE(Psn(0xFFFFFF).before(Psn(0x000000)));
  EXPECT_TRUE(Psn(0x7FFFFF).after(Psn(0)));
  EXPECT_TRUE(Psn(0x800000).before(Psn(0)));
  EXPECT_TRUE(Psn(0x800001).before(Psn(0)));
}

TEST(Psn, WrapsAt24Bits) {
  EXPECT_EQ((Psn(0xFFFFFF) + 1).value(), 0u);
  EXPECT_EQ((Psn(0) - 1).value(), 0xFFFFFFu);
  EXPECT_EQ(Psn(0x1234567).value(), 0x234567u);
}

TEST(Gid, KnowsMulticastOfBothFamilies) {
  EXPECT_TRUE(Gid::from_ipv4(0xE0000001).is_multicast());
  EXPECT_TRUE(Gid::from_ipv4(0xEFFFFFFF).is_multicast());
  EXPECT_FALSE(Gid::from_ipv4(0xDFFFFFFF).is_multicast());
  EXPECT_FALSE(Gid::from_ipv4(0xF0000000).is_multicast());
  Gid ff0e;
  ff0e.bytes[0] = 0xff;
  ff0e.bytes[1] = 0x0e;
  EXPECT_TRUE(ff0e.is_multicast());
  EXPECT_FALSE(Gid{}.is_multicast());
}

TEST(PathMtu, EncodesBytes) {
  EXPECT_EQ(bytes(PathMtu::k256), 256u);
  EXPECT_EQ(bytes(PathMtu::k4096), 4096u);
}

}  // namespace
}  // namespace uroce
