// SPDX-License-Identifier: BSD-3-Clause
// Test support: a key table with a region that windows can be bound to, a fast region and a window
// of each type, and two engines that change keys.
#ifndef UROCE_MEMORY_CHANGE_FIXTURE_H
#define UROCE_MEMORY_CHANGE_FIXTURE_H

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "memory/fast_region.h"
#include "memory/invalidate.h"
#include "memory/window.h"

namespace uroce::memory {

class ChangeFixture : public ::testing::Test {
 protected:
  static constexpr uint32_t kPd = 7;
  static constexpr Qpn kQpn{0x11};
  static constexpr Qpn kOtherQpn{0x12};
  static constexpr uint32_t kAll = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic;
  static constexpr Key kRegionKey{0x0102};
  static constexpr Key kFastKey{0x0210};
  static constexpr Key kWindow1Key{0x0320};
  static constexpr Key kWindow2Key{0x0430};

  ChangeFixture() {
    keys.publish(kRegionKey, {buffer.data(), address(0), buffer.size(), kPd, kAll | kMwBind});
    keys.open(kFastKey, KeyKind::kFastRegion, kPd);
    keys.open(kWindow1Key, KeyKind::kWindow1, kPd);
    keys.open(kWindow2Key, KeyKind::kWindow2, kPd);
    for (uint32_t i = 0; i < 2; ++i) rounds[i].watch(epochs_, i, 2);
  }
  uint64_t address(size_t offset) const {
    return reinterpret_cast<uint64_t>(buffer.data()) + offset;
  }
  Changer who(uint32_t engine = 0, Qpn qpn = kQpn, uint32_t pd = kPd) {
    return {pd, qpn, engine, rounds[engine], waits[engine]};
  }
  // The first 64 bytes of the buffer unless a test says otherwise.
  FastRegistration registration(Key new_key) {
    return {buffer.data(), address(0), 64, kFastKey, new_key, kAll | kMwBind};
  }
  WindowBind bind_of(Key window, Key new_key) {
    return {address(16), 32, window, new_key, kRegionKey, kRemoteWrite | kRemoteRead};
  }
  Change bind(const WindowBind& request, uint32_t engine = 0) {
    return bind_window(keys, who(engine), request, ticket);
  }
  Change end(Key key, InvalidatedBy by = InvalidatedBy::kOwner, uint32_t engine = 0) {
    return invalidate(keys, who(engine), key, by, ticket);
  }
  // Access of a peer to 8 bytes at `offset` of the buffer.
  KeyVerdict remote(Key key, size_t offset, uint32_t wanted = kRemoteWrite, Qpn qpn = kQpn,
                    uint32_t pd = kPd) {
    return keys.translate_remote(key, pd, qpn, wanted, address(offset), 8, pointer);
  }

  std::array<uint8_t, 256> buffer{};
  KeyTable keys{8};
  EpochSlot first;
  EpochSlot second;
  std::array<GraceRounds, 2> rounds;
  std::array<KeyWait, 2> waits;  // of the one queue pair that each engine has
  uint64_t ticket = 0;
  uint8_t* pointer = nullptr;

 private:
  std::vector<const EpochSlot*> epochs_{&first, &second};
};

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_CHANGE_FIXTURE_H
