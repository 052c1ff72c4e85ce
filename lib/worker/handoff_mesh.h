// SPDX-License-Identifier: BSD-3-Clause
// Rings between the engines of one device: frames that came in on one queue and belong to another
// engine's queue pair, or that have members on several engines.
#ifndef UROCE_WORKER_HANDOFF_MESH_H
#define UROCE_WORKER_HANDOFF_MESH_H

#include <cstdint>
#include <memory>
#include <vector>

#include "base/spsc_ring.h"
#include "base/types.h"
#include "wire/frame.h"

namespace uroce::worker {

// A frame on its way between engines. The ring holds a reference of the frame's buffer.
struct HandedFrame {
  Token token{};
  ReceiveTime arrival{};
  bool icrc_good = false;
};

class HandoffMesh {
 public:
  static constexpr uint32_t kRingCapacity = 512;

  explicit HandoffMesh(uint32_t engines) : engines_(engines) {
    for (uint32_t i = 0; i < engines * engines; ++i) {
      rings_.push_back(std::make_unique<SpscRing<HandedFrame>>(kRingCapacity));
    }
  }
  uint32_t engines() const { return engines_; }
  SpscRing<HandedFrame>& ring(uint32_t from, uint32_t to) { return *rings_[from * engines_ + to]; }

 private:
  const uint32_t engines_;
  std::vector<std::unique_ptr<SpscRing<HandedFrame>>> rings_;
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_HANDOFF_MESH_H
