// SPDX-License-Identifier: BSD-3-Clause
// Frame sizes by the port contract: what each kind of port is believed to carry, and the cures.
#include "nic/frame_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace uroce::nic {
namespace {

using ::testing::HasSubstr;

FrameSizeFacts af_packet(uint32_t mtu, const std::string& devargs) {
  return {.port = "net_af_packet0",
          .driver = "net_af_packet",
          .interface = "va",
          .interface_mtu = mtu,
          .devargs = devargs,
          .max_rx_pktlen = 1518,  // whatever is true
          .max_mtu = 1500};
}

FrameSizeFacts without_interface(const std::string& driver, uint32_t max_rx_pktlen) {
  return {.port = "p", .driver = driver, .max_rx_pktlen = max_rx_pktlen, .max_mtu = UINT16_MAX};
}

std::string message(const FrameSizeFacts& facts) {
  const auto size = choose_frame_size(facts);
  return size.ok() ? "no error" : std::string(size.status().message());
}

TEST(FrameSize, KernelInterfaceMtuCountsNotEthdevs) {
  const auto size = choose_frame_size(af_packet(9000, "iface=va,framesz=16384,blocksz=16384"));
  ASSERT_TRUE(size.ok()) << size.status();
  EXPECT_EQ(size->frame_bytes_max, 9014u);
  EXPECT_EQ(size->configure_mtu, 0u);
  EXPECT_EQ(size->warning, "");
  EXPECT_EQ(size->room_bytes_min, 16384u - 32);
}

TEST(FrameSize, RingFrameCapsTheInterfaceAndTheWarningNamesTheCure) {
  const auto size = choose_frame_size(af_packet(9000, "iface=va,framesz=8192,blocksz=8192"));
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(size->frame_bytes_max, 8192u - 66);
  EXPECT_EQ(size->room_bytes_min, 8160u);
  EXPECT_THAT(size->warning, HasSubstr("framesz=16384,blocksz=16384"));
}

TEST(FrameSize, RingFrameDefaultsTo2048) {
  const auto size = choose_frame_size(af_packet(1500, "iface=va"));
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(size->frame_bytes_max, 1514u);
  EXPECT_EQ(size->room_bytes_min, 2016u);
  EXPECT_EQ(choose_frame_size(af_packet(9000, ""))->frame_bytes_max, 1982u);
}

TEST(FrameSize, TooSmallForPathMtu256IsRefusedWithTheValueThatWouldDo) {
  EXPECT_THAT(message(af_packet(339, "framesz=8192")), HasSubstr("ip link set va mtu 340"));
  EXPECT_TRUE(choose_frame_size(af_packet(340, "framesz=8192")).ok());
  EXPECT_THAT(message(af_packet(4200, "framesz=256")), HasSubstr("framesz=8192,blocksz=8192"));
  FrameSizeFacts ring = without_interface("net_ring", UINT32_MAX);
  ring.mtu_wish = 339;
  EXPECT_THAT(message(ring), HasSubstr("mtu 340"));
  EXPECT_THAT(message(without_interface("net_odd", 300)), HasSubstr("needs 340"));
}

TEST(FrameSize, WishAboveTheInterfaceIsRefusedWithTheCommand) {
  FrameSizeFacts facts = af_packet(1500, "framesz=8192");
  facts.mtu_wish = 9000;
  EXPECT_THAT(message(facts), HasSubstr("ip link set va mtu 9000"));
  facts.mtu_wish = 1400;
  EXPECT_EQ(choose_frame_size(facts)->frame_bytes_max, 1414u);
}

TEST(FrameSize, RingIsAskedForPathMtu4096) {
  FrameSizeFacts ring = without_interface("net_ring", UINT32_MAX);
  EXPECT_EQ(choose_frame_size(ring)->configure_mtu, 4184u);
  EXPECT_EQ(choose_frame_size(ring)->frame_bytes_max, 4198u);
  ring.mtu_wish = 9000;
  EXPECT_EQ(choose_frame_size(ring)->configure_mtu, 9000u);
}

TEST(FrameSize, MemifIsBelievedToCarryWhatTheUserSays) {
  FrameSizeFacts memif = without_interface("net_memif", 1518);
  EXPECT_EQ(choose_frame_size(memif)->frame_bytes_max, 1514u);
  memif.mtu_wish = 4188;
  EXPECT_EQ(choose_frame_size(memif)->frame_bytes_max, 4202u);
  EXPECT_EQ(choose_frame_size(memif)->configure_mtu, 0u);
}

TEST(FrameSize, DriverWithALimitIsNotAskedForMore) {
  FrameSizeFacts tap = without_interface("net_tap", 1522);
  EXPECT_EQ(choose_frame_size(tap)->configure_mtu, 1504u);
  tap.mtu_wish = 4096;
  EXPECT_THAT(message(tap), HasSubstr("1504 or less"));
  tap.mtu_wish = 0;
  tap.interface = "dtap0";
  tap.interface_mtu = 9000;
  EXPECT_EQ(choose_frame_size(tap)->frame_bytes_max, 1518u);
}

}  // namespace
}  // namespace uroce::nic
