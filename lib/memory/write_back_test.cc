// SPDX-License-Identifier: BSD-3-Clause
// Writing back leaves the content alone, at every alignment and length.
#include "memory/write_back.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace uroce::memory {
namespace {

TEST(WriteBack, ChangesNoByteWhereverTheRangeBeginsAndEnds) {
  std::array<uint8_t, 256> bytes{};
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  const std::array<uint8_t, 256> before = bytes;
  for (size_t first = 0; first < 130; first += 13) {
    for (size_t count = 0; first + count <= bytes.size(); count += 21) {
      write_back(std::span(bytes).subspan(first, count));
    }
  }
  EXPECT_EQ(bytes, before);
}

TEST(WriteBack, NothingIsTouchedForAnEmptyRange) { write_back({}); }

}  // namespace
}  // namespace uroce::memory
