// SPDX-License-Identifier: BSD-3-Clause
// Tests of finding registered memory: nested ranges, devices, the end of a registration.
#include "verbs/registered_memory.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace uroce::verbs {
namespace {

TEST(RegisteredMemory, FindsWhatHasAllOfARange) {
  RegisteredMemory memory;
  const ib_device device{};
  const ib_device other{};
  EXPECT_EQ(memory.find(&device, 0x1000, 1), nullptr);
  const auto outer = memory.hold(&device, 0x1000, 0x1000);
  const auto inner = memory.hold(&device, 0x1800, 0x10);
  const page* found = memory.find(&device, 0x1000, 0x1000);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->address, reinterpret_cast<void*>(0x1000));
  EXPECT_EQ(found->length, 0x1000u);
  EXPECT_EQ(memory.find(&device, 0x1900, 0x10), found) << "behind a range inside it";
  EXPECT_NE(memory.find(&device, 0x1804, 4), nullptr);
  EXPECT_EQ(memory.find(&device, 0x1FFF, 1), found);
  EXPECT_EQ(memory.find(&device, 0x1FFF, 2), nullptr);
  EXPECT_EQ(memory.find(&device, 0x0FFF, 2), nullptr);
  EXPECT_EQ(memory.find(&device, 0x1800, UINT64_MAX), nullptr);
  EXPECT_EQ(memory.find(&other, 0x1000, 1), nullptr);
  EXPECT_EQ(memory.find(nullptr, 0x1000, 1), found);
}

TEST(RegisteredMemory, TheSameMemoryMayBeRegisteredTwice) {
  RegisteredMemory memory;
  const ib_device device{};
  std::optional first = memory.hold(&device, 0x1000, 0x100);
  RegisteredMemory::Hold second;
  second = memory.hold(&device, 0x1000, 0x100);
  first.reset();
  EXPECT_NE(memory.find(&device, 0x1000, 0x100), nullptr);
  RegisteredMemory::Hold moved = std::move(second);
  EXPECT_NE(memory.find(&device, 0x1000, 0x100), nullptr);
  moved = RegisteredMemory::Hold();
  EXPECT_EQ(memory.find(&device, 0x1000, 0x100), nullptr);
}

TEST(RegisteredMemory, PiecesFromElsewhereNeedNoRegistration) {
  RegisteredMemory memory;
  memory.set_lookup([](uint64_t address, uint64_t& start, uint64_t& length) {
    start = 0x200000;
    length = 0x200000;
    return address >= start && address - start < length;
  });
  const ib_device device{};
  page* piece = memory.find(&device, 0x200010, 16);
  ASSERT_NE(piece, nullptr);
  EXPECT_EQ(piece->address, reinterpret_cast<void*>(0x200000));
  EXPECT_EQ(memory.find(nullptr, 0x3FFFFF, 1), piece);
  EXPECT_EQ(memory.find(nullptr, 0x3FFFFF, 2), nullptr);
  EXPECT_EQ(memory.find(nullptr, 0x400000, 1), nullptr);
  memory.set_lookup(nullptr);
  EXPECT_EQ(memory.find(nullptr, 0x200010, 16), nullptr);
}

}  // namespace
}  // namespace uroce::verbs
