// SPDX-License-Identifier: BSD-3-Clause
// How large a frame a port really carries.
//
// A kernel interface knows its MTU; net_af_packet's ring frame (framesz) caps it, any other driver
// by its max_rx_pktlen. Without a kernel interface the port is asked for the wanted MTU where its
// max_rx_pktlen allows that; a driver that always says 1518 (net_memif) is believed to carry what
// the user says.
#include "nic/frame_size.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace uroce::nic {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kVlanBytes = 4;
constexpr uint32_t kFcsBytes = 4;
// IPv6, UDP, BTH, RETH, ImmDt, ICRC; XRC needs 4 more, which the full MTU has.
constexpr uint32_t kRoceOverheadBytes = 84;
constexpr uint32_t kMtuMin = 256 + kRoceOverheadBytes;
// net_af_packet: the kernel puts a received frame 66 bytes into its ring frame (tpacket header,
// link address, alignment); the driver wants mbufs that hold all but 32 bytes of the ring frame.
constexpr uint32_t kRingFrameReceiveOverhead = 66;
constexpr uint32_t kRingFrameRoomOverhead = 32;
constexpr uint32_t kRingFrameDefault = 2048;

uint32_t ring_frame_bytes(absl::string_view devargs) {
  for (absl::string_view argument : absl::StrSplit(devargs, ',')) {
    uint32_t value = 0;
    if (absl::ConsumePrefix(&argument, "framesz=") && absl::SimpleAtoi(argument, &value)) {
      return value;
    }
  }
  return kRingFrameDefault;
}

absl::StatusOr<FrameSize> of_interface(const FrameSizeFacts& facts) {
  if (facts.mtu_wish > facts.interface_mtu) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "port %s: mtu %d is more than interface %s has (%d): ip link set %s mtu %d", facts.port,
        facts.mtu_wish, facts.interface, facts.interface_mtu, facts.interface, facts.mtu_wish));
  }
  const uint32_t mtu = facts.mtu_wish != 0 ? facts.mtu_wish : facts.interface_mtu;
  if (mtu < kMtuMin) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "port %s: MTU %d carries no RoCE packet: ip link set %s mtu %d (path MTU 256) or more",
        facts.port, mtu, facts.interface, kMtuMin));
  }
  FrameSize size{.frame_bytes_max = mtu + kEthernetBytes};
  if (facts.driver != "net_af_packet") {
    const uint32_t limit = facts.max_rx_pktlen - kFcsBytes;
    size.frame_bytes_max = std::min(size.frame_bytes_max, limit);
    size.room_bytes_min = size.frame_bytes_max + kVlanBytes;
    return size;
  }
  const uint32_t ring_frame = ring_frame_bytes(facts.devargs);
  if (ring_frame < kMtuMin + kEthernetBytes + kRingFrameReceiveOverhead) {
    return absl::FailedPreconditionError(
        absl::StrFormat("port %s: framesz=%d carries no RoCE packet: framesz=%d,blocksz=%d would",
                        facts.port, ring_frame, ring_frame_wanted(mtu), ring_frame_wanted(mtu)));
  }
  const uint32_t limit = ring_frame - kRingFrameReceiveOverhead;
  if (size.frame_bytes_max > limit) {
    size.frame_bytes_max = limit;
    size.warning = absl::StrFormat(
        "port %s: framesz=%d cuts frames to %d bytes, interface %s has MTU %d: give "
        "framesz=%d,blocksz=%d",
        facts.port, ring_frame, limit, facts.interface, facts.interface_mtu, ring_frame_wanted(mtu),
        ring_frame_wanted(mtu));
  }
  size.room_bytes_min =
      std::max(size.frame_bytes_max + kVlanBytes, ring_frame - kRingFrameRoomOverhead);
  return size;
}

}  // namespace

uint32_t ring_frame_wanted(uint32_t mtu) {
  uint32_t bytes = kRingFrameDefault;
  while (bytes < mtu + kEthernetBytes + kRingFrameReceiveOverhead) bytes *= 2;
  return bytes;
}

absl::StatusOr<FrameSize> choose_frame_size(const FrameSizeFacts& facts) {
  if (!facts.interface.empty()) return of_interface(facts);
  if (facts.mtu_wish != 0 && facts.mtu_wish < kMtuMin) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %s: mtu %d carries no RoCE packet: give mtu %d (path MTU 256) or "
                        "more",
                        facts.port, facts.mtu_wish, kMtuMin));
  }
  FrameSize size;
  if (facts.driver == "net_memif") {
    size.frame_bytes_max = (facts.mtu_wish != 0 ? facts.mtu_wish : 1500) + kEthernetBytes;
    size.room_bytes_min = size.frame_bytes_max + kVlanBytes;
    return size;
  }
  const uint32_t overhead = facts.max_mtu != UINT16_MAX && facts.max_rx_pktlen > facts.max_mtu
                                ? facts.max_rx_pktlen - facts.max_mtu
                                : kEthernetBytes + kFcsBytes;
  const uint32_t limit =
      std::min<uint32_t>(facts.max_mtu, std::max(facts.max_rx_pktlen, overhead) - overhead);
  if (facts.mtu_wish > limit) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %s: mtu %d is more than the port carries: give mtu %d or less",
                        facts.port, facts.mtu_wish, limit));
  }
  const uint32_t mtu = facts.mtu_wish != 0 ? facts.mtu_wish : std::min(kFullMtu, limit);
  if (mtu < kMtuMin) {
    return absl::FailedPreconditionError(
        absl::StrFormat("port %s: its driver %s carries %d bytes at most, path MTU 256 needs %d",
                        facts.port, facts.driver, mtu, kMtuMin));
  }
  size.configure_mtu = static_cast<uint16_t>(mtu);
  size.frame_bytes_max = mtu + kEthernetBytes;
  size.room_bytes_min = size.frame_bytes_max + kVlanBytes;
  return size;
}

}  // namespace uroce::nic
