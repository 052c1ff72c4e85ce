// SPDX-License-Identifier: BSD-3-Clause
// The operations that the random workload knows: one row each, so that a new one is one row more.
#ifndef UROCE_TEST_SIM_OPERATIONS_H
#define UROCE_TEST_SIM_OPERATIONS_H

#include <uroce/ib_verbs.h>

#include <cstdint>
#include <span>

namespace uroce::sim {

// What an operation does to memory.
enum class Effect : uint8_t {
  kMessage,   // into a receive buffer of the peer
  kWrite,     // into the peer's write area
  kRead,      // out of the peer's constant area
  kTrespass,  // a WRITE that leaves the peer's region: refused
  kStaleKey,  // a WRITE with a key that was retired: refused
  kFetchAdd,  // on one of the peer's words, of eight bytes each
  kCompareSwap,
  kAtomicWrite,
  kFlush,
};

// Brings something back from the peer into a buffer here.
constexpr bool fetches(Effect effect) {
  return effect == Effect::kRead || effect == Effect::kFetchAdd || effect == Effect::kCompareSwap;
}
// Acts on one word, so its length is not free.
constexpr bool is_on_word(Effect effect) {
  return effect == Effect::kFetchAdd || effect == Effect::kCompareSwap ||
         effect == Effect::kAtomicWrite;
}
inline constexpr uint32_t kWordBytes = 8;

constexpr uint32_t type_bit(ib_qp_type type) { return 1u << static_cast<unsigned>(type); }
inline constexpr uint32_t kReliable = type_bit(IB_QPT_RC);

struct OperationKind {
  const char* name;
  ib_wr_opcode opcode;
  ib_wc_opcode completion;
  Effect effect;
  bool immediate;
  bool takes_receive;      // completes a receive work request of the peer
  ib_wc_opcode receive;    // with this opcode
  ib_wc_status ends_with;  // on a connection that lives
  uint32_t types;          // type_bit() of each queue pair type that has it
  uint32_t weight;         // how often it is drawn, among those allowed
  bool inlinable;
};

inline constexpr OperationKind kOperations[] = {
    {"SEND", IB_WR_SEND, IB_WC_SEND, Effect::kMessage, false, true, IB_WC_RECV, IB_WC_SUCCESS,
     kReliable, 100, true},
    {"SEND_WITH_IMM", IB_WR_SEND_WITH_IMM, IB_WC_SEND, Effect::kMessage, true, true, IB_WC_RECV,
     IB_WC_SUCCESS, kReliable, 100, true},
    {"RDMA_WRITE", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, Effect::kWrite, false, false, IB_WC_RECV,
     IB_WC_SUCCESS, kReliable, 100, true},
    {"RDMA_WRITE_WITH_IMM", IB_WR_RDMA_WRITE_WITH_IMM, IB_WC_RDMA_WRITE, Effect::kWrite, true, true,
     IB_WC_RECV_RDMA_WITH_IMM, IB_WC_SUCCESS, kReliable, 100, true},
    {"RDMA_READ", IB_WR_RDMA_READ, IB_WC_RDMA_READ, Effect::kRead, false, false, IB_WC_RECV,
     IB_WC_SUCCESS, kReliable, 100, false},
    {"WRITE outside the region", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, Effect::kTrespass, false,
     false, IB_WC_RECV, IB_WC_REM_ACCESS_ERR, kReliable, 3, true},
    {"WRITE with a retired key", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, Effect::kStaleKey, false,
     false, IB_WC_RECV, IB_WC_REM_ACCESS_ERR, kReliable, 3, true},
    {"FETCH_ADD", IB_WR_ATOMIC_FETCH_AND_ADD, IB_WC_FETCH_ADD, Effect::kFetchAdd, false, false,
     IB_WC_RECV, IB_WC_SUCCESS, kReliable, 60, false},
    {"CMP_SWAP", IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP, Effect::kCompareSwap, false, false,
     IB_WC_RECV, IB_WC_SUCCESS, kReliable, 60, false},
    {"ATOMIC_WRITE", IB_WR_ATOMIC_WRITE, IB_WC_ATOMIC_WRITE, Effect::kAtomicWrite, false, false,
     IB_WC_RECV, IB_WC_SUCCESS, kReliable, 40, false},
    {"FLUSH", IB_WR_FLUSH, IB_WC_FLUSH, Effect::kFlush, false, false, IB_WC_RECV, IB_WC_SUCCESS,
     kReliable, 30, false},
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_OPERATIONS_H
