// SPDX-License-Identifier: BSD-3-Clause
// Pairs of memory ports joined crosswise.
#include "nic/ring_pairs.h"

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace uroce::nic {
namespace {

absl::StatusOr<rte_ring*> make_ring(const std::string& name, uint32_t frames) {
  rte_ring* ring = rte_ring_create(name.c_str(), frames, static_cast<int>(rte_socket_id()),
                                   RING_F_SP_ENQ | RING_F_SC_DEQ);
  if (ring != nullptr) return ring;
  return absl::ResourceExhaustedError(
      absl::StrFormat("ring %s of %d frames: %s", name, frames, rte_strerror(rte_errno)));
}

absl::Status make_port(const std::string& name, std::vector<rte_ring*>& rx,
                       std::vector<rte_ring*>& tx, uint8_t index) {
  const int port = rte_eth_from_rings(name.c_str(), rx.data(), static_cast<unsigned>(rx.size()),
                                      tx.data(), static_cast<unsigned>(tx.size()), rte_socket_id());
  if (port < 0) {
    return absl::InternalError(absl::StrFormat("ring port %s: %s", name, rte_strerror(rte_errno)));
  }
  const MacAddress mac = local_mac(index);
  rte_ether_addr address;
  std::copy(mac.bytes.begin(), mac.bytes.end(), address.addr_bytes);
  // On this driver "add" replaces the MAC, which is zero at first.
  const int added = rte_eth_dev_mac_addr_add(static_cast<uint16_t>(port), &address, 0);
  if (added == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrFormat("ring port %s: its MAC cannot be set: %s", name, rte_strerror(-added)));
}

}  // namespace

MacAddress local_mac(uint8_t index) { return {{0x02, 0x75, 0x72, 0x6f, 0x63, index}}; }

absl::StatusOr<RingPairs> RingPairs::make(uint32_t pairs, uint32_t queue_count,
                                          uint32_t ring_frames) {
  if (pairs == 0 || pairs > kRingPairsMax) {
    return absl::InvalidArgumentError(
        absl::StrFormat("rings %d: give 1 to %d pairs", pairs, kRingPairsMax));
  }
  if (queue_count == 0 || queue_count > RTE_PMD_RING_MAX_RX_RINGS) {
    return absl::InvalidArgumentError(absl::StrFormat("ring ports with %d queues: give 1 to %d",
                                                      queue_count, RTE_PMD_RING_MAX_RX_RINGS));
  }
  RingPairs made;
  for (uint32_t pair = 0; pair < pairs; ++pair) {
    std::vector<rte_ring*> ways[2];
    for (uint32_t i = 0; i < 2 * queue_count; ++i) {
      auto ring = make_ring(absl::StrFormat("uroce_%u_%u", pair, i), ring_frames);
      if (!ring.ok()) return ring.status();
      made.rings_.push_back(*ring);
      ways[i % 2].push_back(*ring);
    }
    for (uint32_t end = 0; end < 2; ++end) {
      const uint32_t index = 2 * pair + end;
      const std::string name = absl::StrFormat("u%u", index);
      absl::Status port = make_port(name, ways[end], ways[1 - end], static_cast<uint8_t>(index));
      if (!port.ok()) return port;
      made.names_.push_back("net_ring_" + name);
    }
  }
  return made;
}

RingPairs::~RingPairs() { release(); }

RingPairs::RingPairs(RingPairs&& other) noexcept
    : names_(std::exchange(other.names_, {})), rings_(std::exchange(other.rings_, {})) {}

RingPairs& RingPairs::operator=(RingPairs&& other) noexcept {
  if (this != &other) {
    release();
    names_ = std::exchange(other.names_, {});
    rings_ = std::exchange(other.rings_, {});
  }
  return *this;
}

void RingPairs::drain() {
  for (rte_ring* ring : rings_) {
    void* frame = nullptr;
    while (rte_ring_dequeue(ring, &frame) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
  }
}

void RingPairs::release() {
  for (const std::string& name : names_) rte_vdev_uninit(name.c_str());
  for (rte_ring* ring : rings_) rte_ring_free(ring);
  names_.clear();
  rings_.clear();
}

}  // namespace uroce::nic
