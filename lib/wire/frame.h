// SPDX-License-Identifier: BSD-3-Clause
// Frames as they cross the edge of the core: borrowed bytes in, lent room out.
#ifndef UROCE_WIRE_FRAME_H
#define UROCE_WIRE_FRAME_H

#include <cstdint>

#include "base/types.h"

namespace uroce {

// What the port says of a checksum. kIgnore: the port cannot tell an unfinished sum from a wrong
// one (af_packet), so the sum is not judged at all.
enum class ChecksumVerdict : uint8_t { kUnknown, kGood, kBad, kIgnore };

// When a frame came, on the engines' clock.
struct ReceiveTime {
  Time at{};
  bool hardware = false;  // the port stamped it; false: the time of the burst that brought it
};

// One received frame, from its Ethernet header on. The bytes are contiguous and borrowed for the
// call that they are passed to.
struct RxFrame {
  const uint8_t* bytes = nullptr;
  uint32_t length = 0;
  uint16_t vlan_tci = 0;       // valid when vlan_stripped
  bool vlan_stripped = false;  // the port took the tag out of the frame
  ChecksumVerdict ip_checksum = ChecksumVerdict::kUnknown;
  ChecksumVerdict udp_checksum = ChecksumVerdict::kUnknown;
  bool icrc_good = false;  // verified before: handed over by another engine
  bool looped = false;     // never left this host: came by Route::kLocal or kBoth
  bool stamped = false;    // the time is the port's; else that of the burst that brought it
  Token token{};
  Time arrival{};

  ReceiveTime receive_time() const { return {arrival, stamped}; }
};
// The flags fill one word, which a port clears with one store; a burst of frames is 20 cache lines.
static_assert(sizeof(RxFrame) == 40);

// Where a frame that the core made goes: to the port, back into this device, or both.
enum class Route : uint8_t { kWire, kLocal, kBoth };

// Room for one frame, lent by the owner of the port. The core fills the first `length` bytes.
struct TxSlot {
  uint8_t* room = nullptr;
  uint32_t capacity = 0;
  Token token{};
  // Out:
  uint32_t length = 0;
  Route route = Route::kWire;
};

}  // namespace uroce

#endif  // UROCE_WIRE_FRAME_H
