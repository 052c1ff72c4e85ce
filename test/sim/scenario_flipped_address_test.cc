// SPDX-License-Identifier: BSD-3-Clause
// The ICRC rule where it matters most: a WRITE whose address was flipped on the way, with the ICRC
// of the original, must not touch a byte and must not be answered.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

TEST(FlippedAddress, AWriteWithAFlippedAddressBitAndTheOldIcrcTouchesNothing) {
  Pair pair;
  std::fill(pair.a.memory.begin(), pair.a.memory.end(), uint8_t{0x55});
  pair.world.run_until(pair.world.now() + Duration(5'000'000'000));  // announcements are over
  pair.world.faults.loss = 1;                                        // the original never arrives
  pair.post_write(64);
  const std::vector<uint8_t> original = pair.world.last_frame();
  ASSERT_EQ(original.size(), 14u + 20 + 8 + 12 + 16 + 64 + 4);
  const uint64_t sent_before = pair.world.counters().sent;
  const auto icrc = static_cast<size_t>(wire::Drop::kIcrc);
  for (size_t bit = 0; bit < 64; ++bit) {
    std::vector<uint8_t> flipped = original;
    flipped[54 + bit / 8] = static_cast<uint8_t>(flipped[54 + bit / 8] ^ (1u << (bit % 8)));
    pair.world.inject(pair.right, flipped);
    pair.world.run_until(pair.world.now());
  }
  EXPECT_EQ(pair.b.memory, std::vector<uint8_t>(65536, 0xEE));
  EXPECT_EQ(pair.right.engine().drops().by_reason[icrc].value(), 64u);
  EXPECT_EQ(pair.world.counters().sent, sent_before) << "somebody answered";
  // The same frame unharmed is taken: it was the flip that was refused.
  pair.world.inject(pair.right, original);
  pair.world.run_until(pair.world.now());
  EXPECT_EQ(pair.b.memory[0x8000], 0x55);
}

}  // namespace
}  // namespace uroce::sim
