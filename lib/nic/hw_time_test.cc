// SPDX-License-Identifier: BSD-3-Clause
// Which clocks count nanoseconds, and that a stamped mbuf's time reaches the frame.
#include "nic/hw_time.h"

#include <gmock/gmock.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "nic/nic_test_ports.h"

namespace uroce::nic {
namespace {

TEST(HwTime, ClockOfNanosecondsIsToldFromOthers) {
  EXPECT_TRUE(counts_nanoseconds(10'000'000, 10'000'000));
  EXPECT_TRUE(counts_nanoseconds(10'049'000, 10'000'000));
  EXPECT_TRUE(counts_nanoseconds(9'951'000, 10'000'000));
  EXPECT_FALSE(counts_nanoseconds(10'051'000, 10'000'000));
  EXPECT_FALSE(counts_nanoseconds(780'000, 10'000'000));  // 78 MHz
  EXPECT_FALSE(counts_nanoseconds(0, 0));
}

class HwTimeTest : public RingPortsTest {};

TEST_F(HwTimeTest, PortWithoutAClockHasNoField) {
  open();
  EXPECT_EQ(find_hw_time(a->id()).flag, 0u);
}

TEST_F(HwTimeTest, StampedFrameCarriesItsTimeAndAnUnstampedOneNone) {
  open();
  HwTimeField field;
  ASSERT_EQ(rte_mbuf_dyn_rx_timestamp_register(&field.offset, &field.flag), 0);
  Queue queue({.port_id = b->id(),
               .pool = b->pool(),
               .frame_bytes_max = 2000,
               .timestamp_offset = field.offset,
               .timestamp_flag = field.flag});
  rte_mbuf* mbufs[2];
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(a->pool(), mbufs, 2), 0);
  for (rte_mbuf* mbuf : mbufs) ASSERT_NE(rte_pktmbuf_append(mbuf, 64), nullptr);
  *RTE_MBUF_DYNFIELD(mbufs[0], field.offset, rte_mbuf_timestamp_t*) = 123'456'789;
  mbufs[0]->ol_flags |= field.flag;
  ASSERT_EQ(rte_eth_tx_burst(a->id(), 0, mbufs, 2), 2u);
  std::vector<RxFrame> frames(kBurst);
  ASSERT_EQ(queue.receive(Time{}, frames), 2u);
  EXPECT_EQ(frames[0].hw_time, Time{Duration{123'456'789}});
  EXPECT_EQ(frames[1].hw_time, Time{});
  queue.release({frames.data(), 2});
}

}  // namespace
}  // namespace uroce::nic
