// SPDX-License-Identifier: BSD-3-Clause
// Every entry of the GID table carries traffic (case 73 of the field), and a link-local address is
// one of the port's own link (case 77).
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

#include "test/sim/pair.h"
#include "wire/parse.h"

namespace uroce::sim {
namespace {

using Statuses = std::vector<ib_wc_status>;

TEST(Addresses, AConnectionWorksOverEveryEntryOfTheGidTable) {
  for (uint8_t index = 0; index < 3; ++index) {
    Pair pair(PairOptions{.gid_index = index});
    ib_gid source;
    ASSERT_EQ(rdma_query_gid(pair.left.device(), 1, index, &source), 0);
    uint64_t packets = 0;
    pair.world.tap = [&](const Host& from, std::span<const uint8_t> frame) {
      wire::ParsedFrame parsed{};
      if (&from != &pair.left || wire::parse_roce(frame, {}, parsed) != wire::Drop::kNone) return;
      EXPECT_EQ(std::memcmp(parsed.source().bytes.data(), source.raw, 16), 0) << int{index};
      ++packets;
    };
    pair.paint();
    pair.post_recv(64);
    pair.post_write(3000);
    pair.post(IB_WR_SEND, 64);
    pair.post(IB_WR_RDMA_READ, 3000);
    pair.run_for(Duration(5'000'000));
    EXPECT_EQ(Pair::statuses(pair.a), (Statuses(3, IB_WC_SUCCESS))) << int{index};
    EXPECT_EQ(Pair::statuses(pair.b), (Statuses(1, IB_WC_SUCCESS))) << int{index};
    EXPECT_TRUE(pair.written(3000));
    EXPECT_GE(packets, 5u);
  }
}

// One program with a port on each of two links, where the peers have the same address and, as its
// consequence, the same MAC address.
TEST(Addresses, PacketsToALinkLocalAddressLeaveByThePortOfTheirQueuePair) {
  Pair links[2] = {Pair(PairOptions{.gid_index = 0}), Pair(PairOptions{.gid_index = 0})};
  uint64_t packets[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    links[i].settle();
    links[i].world.tap = [&, i](const Host&, std::span<const uint8_t>) { ++packets[i]; };
  }
  for (size_t i = 0; i < 2; ++i) {
    packets[0] = packets[1] = 0;
    links[i].paint();
    links[i].post_write(3000);
    for (Pair& link : links) link.run_for(Duration(5'000'000));
    EXPECT_EQ(Pair::statuses(links[i].a), Statuses{IB_WC_SUCCESS});
    EXPECT_TRUE(links[i].written(3000));
    EXPECT_GE(packets[i], 4u) << "three packets and an ACK";
    EXPECT_EQ(packets[1 - i], 0u);
  }
}

}  // namespace
}  // namespace uroce::sim
