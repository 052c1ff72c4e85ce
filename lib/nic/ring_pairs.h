// SPDX-License-Identifier: BSD-3-Clause
// Pairs of memory ports joined crosswise: what one sends, the other receives.
#ifndef UROCE_NIC_RING_PAIRS_H
#define UROCE_NIC_RING_PAIRS_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/types.h"

struct rte_ring;

namespace uroce::nic {

inline constexpr uint32_t kRingPairsMax = 16;
inline constexpr uint32_t kRingFrames = 1024;  // a ring holds one frame less

// Owns the DPDK ports and their rings. Ports 2i and 2i + 1 are pair i. Destroy it after the ports
// that were opened on them. Control thread.
class RingPairs {
 public:
  // `pairs` in 1 … kRingPairsMax, `queue_count` rings each way: frames of queue q come out of the
  // other port's queue q. Each queue has one sending and one receiving thread.
  static absl::StatusOr<RingPairs> make(uint32_t pairs, uint32_t queue_count = 1,
                                        uint32_t ring_frames = kRingFrames);
  RingPairs() = default;
  ~RingPairs();
  RingPairs(RingPairs&& other) noexcept;
  RingPairs& operator=(RingPairs&& other) noexcept;

  // Frees what lies in the rings: a port that nobody opened takes nothing out. When no queue of the
  // pairs is used any more, and before their pools are.
  void drain();

  // DPDK port names, "net_ring_u0", "net_ring_u1", …
  const std::vector<std::string>& port_names() const { return names_; }

 private:
  void release();

  std::vector<std::string> names_;
  std::vector<rte_ring*> rings_;
};

// The locally administered MAC of ring port `index` of this process, 02:75:72:6f:63:<index>; also
// given to any port whose own MAC is zero.
MacAddress local_mac(uint8_t index);

}  // namespace uroce::nic

#endif  // UROCE_NIC_RING_PAIRS_H
