// SPDX-License-Identifier: BSD-3-Clause
// The floor: the least that any UD sender and receiver over a DPDK ring must do, written plainly.
// No queue pairs, no checks beyond the headers, no flow control: what is measured against it pays
// for being a real transport.
#ifndef UROCE_TEST_PERF_FLOOR_H
#define UROCE_TEST_PERF_FLOOR_H

#include <cstdint>
#include <vector>

#include "wire/emit.h"

struct rte_mbuf;
struct rte_mempool;

namespace uroce::perf {

// A completion as plain as can be.
struct FloorCompletion {
  uint64_t id;
  uint32_t byte_len;
  uint32_t source_qpn;
};

// A memory-ring port without a device on it: what it sends its peer's queue holds, and the peer is
// port id() + 1 of the same pair.
class FloorPort {
 public:
  explicit FloorPort(const char* name);
  ~FloorPort();
  uint16_t id() const { return id_; }
  rte_mempool* pool() const { return pool_; }

 private:
  uint16_t id_ = 0;
  rte_mempool* pool_ = nullptr;
};

class Floor {
 public:
  // Sends on `port` and receives on its peer.
  Floor(uint16_t port, rte_mempool* pool, uint32_t payload_bytes);

  // Sends `burst` messages, receives and polls them. Returns messages received (= burst).
  uint32_t round(uint32_t burst);

  // Whether the bytes of the last message arrived.
  bool check() const;

 private:
  uint32_t send(uint32_t burst);
  uint32_t receive();
  void deliver(rte_mbuf* frame);
  uint32_t poll();

  static constexpr uint32_t kRing = 1024;  // posted buffers and completions, a power of two
  const uint16_t port_;
  rte_mempool* const pool_;
  const uint32_t payload_bytes_;
  wire::HeaderTemplate headers_;
  uint32_t psn_ = 0;
  uint16_t ip_id_ = 0;
  std::vector<uint8_t> source_;
  std::vector<uint8_t> buffers_;  // kRing posted buffers
  std::vector<FloorCompletion> completions_;
  uint32_t produced_ = 0;
  uint32_t consumed_ = 0;
  uint64_t bytes_seen_ = 0;
};

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_FLOOR_H
