// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the IGMP and MLD hosts share: classifying a frame, running a host's deadlines.
#ifndef UROCE_GROUP_HOST_TEST_H
#define UROCE_GROUP_HOST_TEST_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "wire/drop.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::group {

using Bytes = std::vector<uint8_t>;

struct SentFrame {
  Time at;
  Bytes bytes;
};

template <typename Host>
wire::Drop give(Host& host, Time now, std::span<const uint8_t> frame) {
  wire::ParseOptions options;
  options.vlan_id = wire::kVlanAny;
  wire::L3Info info;
  wire::classify(frame, options, info);
  return host.handle_frame(now, frame, info, options);
}

// All frames that are due up to `until`, polled at `from` and then at the host's own deadlines.
template <typename Host>
std::vector<SentFrame> run(Host& host, Time from, Time until, uint32_t capacity = 2048) {
  std::vector<SentFrame> sent;
  for (Time now = from; now <= until; now = std::max(now, host.poll_timeout())) {
    Bytes room(capacity);
    TxSlot slot;
    slot.room = room.data();
    slot.capacity = capacity;
    while (host.poll_frame(now, slot)) {
      sent.push_back({now, Bytes(room.begin(), room.begin() + slot.length)});
    }
    if (host.poll_timeout() == kNever) break;
  }
  return sent;
}

}  // namespace uroce::group

#endif  // UROCE_GROUP_HOST_TEST_H
