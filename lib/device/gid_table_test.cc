// SPDX-License-Identifier: BSD-3-Clause
// Tests of the GID table: order, stability, addresses that come and go.
#include "device/gid_table.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace uroce::device {
namespace {

constexpr MacAddress kMac{{0x02, 0, 0, 0, 0, 0x01}};
const Gid kA = Gid::from_ipv4(0x0A000001);
const Gid kB = Gid::from_ipv4(0x0A000002);
const Gid kC{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

Gid at(const GidTable& table, int index) {
  Gid gid;
  EXPECT_EQ(table.query(index, gid), 0) << index;
  return gid;
}

// GT-01.
TEST(GidTable, BeginsWithTheLinkLocalAddressOfTheMacThenAddressesInOrder) {
  GidTable table(8);
  const PortAddress addresses[] = {{kA, 24}, {kC, 64}};
  EXPECT_TRUE(table.update(kMac, addresses));
  const Gid link_local{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1}};
  EXPECT_EQ(at(table, 0), link_local);
  EXPECT_EQ(at(table, 1), kA);
  EXPECT_EQ(at(table, 2), kC);
  Gid none;
  EXPECT_EQ(table.query(3, none), -ENODATA);
  EXPECT_EQ(table.query(8, none), -EINVAL);
  EXPECT_EQ(table.query(-1, none), -EINVAL);
}

// GT-02, GT-03.
TEST(GidTable, ASecondLookAddsNothingANewAddressOneEntry) {
  GidTable table(8);
  const PortAddress one[] = {{kA, 24}};
  table.update(kMac, one);
  EXPECT_FALSE(table.update(kMac, one));
  const PortAddress two[] = {{kB, 24}, {kA, 24}};
  EXPECT_TRUE(table.update(kMac, two));
  EXPECT_EQ(at(table, 1), kA) << "the older entry keeps its index";
  EXPECT_EQ(at(table, 2), kB);
  EXPECT_EQ(table.local_addresses().size(), 3u);
}

// Cases 73, 74: an entry without an address is never a valid one.
TEST(GidTable, ARemovedAddressLeavesAnEmptyEntryThatTheNextOneFills) {
  GidTable table(8);
  const PortAddress both[] = {{kA, 24}, {kB, 24}};
  const PortAddress second[] = {{kB, 24}};
  const PortAddress other[] = {{kB, 24}, {kC, 64}};
  table.update(kMac, both);
  EXPECT_TRUE(table.update(kMac, second));
  Gid none;
  EXPECT_EQ(table.query(1, none), -ENODATA);
  EXPECT_EQ(at(table, 2), kB);
  EXPECT_FALSE(table.find(kA));
  table.update(kMac, other);
  EXPECT_EQ(at(table, 1), kC);
}

// AH-06.
TEST(GidTable, AnIndexInUseIsNotGivenToAnotherAddress) {
  GidTable table(8);
  const PortAddress first[] = {{kA, 24}};
  const PortAddress other[] = {{kB, 24}};
  table.update(kMac, first);
  table.hold(1);
  table.update(kMac, other);
  EXPECT_EQ(at(table, 2), kB);
  table.update(kMac, first);
  EXPECT_EQ(at(table, 1), kA) << "back under its old index";
  table.release(1);
  table.update(kMac, other);
  EXPECT_EQ(at(table, 1), kB);
}

// case 73: one entry for each address, however many say it, in the order in which they came.
TEST(GidTable, EachAddressHasOneEntryInTheOrderInWhichItCame) {
  GidTable table(8);
  const Gid other_link_local{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x77}};
  const PortAddress first[] = {{kA, 24}, {kC, 64}, {other_link_local, 64}};
  const PortAddress later[] = {{other_link_local, 64},     {kB, 24}, {kC, 64}, {kA, 24},
                               {link_local_gid(kMac), 64}, {kA, 24}};
  table.update(kMac, first);
  table.update(kMac, later);
  const Gid order[] = {link_local_gid(kMac), kA, kC, other_link_local, kB};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(at(table, i), order[i]) << i;
  EXPECT_EQ(table.local_addresses().size(), 5u);
}

TEST(GidTable, AFullTableAndAddressesThatNoHostHasAreLeftOut) {
  GidTable table(2);
  const PortAddress addresses[] = {
      {Gid{}, 0}, {Gid::from_ipv4(0xE0000001), 32}, {kA, 24}, {kB, 24}};
  table.update(kMac, addresses);
  EXPECT_EQ(at(table, 1), kA);
  EXPECT_FALSE(table.find(kB));
}

TEST(GidTable, TheLinkLocalAddressOfThePortIsNotListedTwice) {
  GidTable table(8);
  const PortAddress addresses[] = {{link_local_gid(kMac), 64}, {kA, 24}};
  table.update(kMac, addresses);
  EXPECT_EQ(at(table, 1), kA);
}

}  // namespace
}  // namespace uroce::device
